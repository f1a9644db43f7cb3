import ArgumentParser
import MachineState
import Vault
import VaultModel

struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Bring attachments that are kept on a remote to this machine.",
    discussion: """
      For a vault that was cloned with --lazy: what you name can be read without the remote from then on, until it is \
      evicted. With --keep it stays here for good, and what is added to it later comes with each sync.

      Examples:
        kinvault fetch Emma
        kinvault fetch "Emma/Vaccines/2025-01-20 COVID-19" --keep
      """)

  @Argument(help: "Members or records; the whole vault when none is named.") var records: [String] =
    []
  @Flag(help: "Keep them here always.") var keep = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      try LazyAccess.prepare(vault, key: key)
      let bar = ProgressBar(.items)
      defer { bar.finish() }
      var total = LazyReport()
      for (member, record) in try LazyAccess.targets(records, in: vault) {
        if keep {
          try vault.setLazySettings {
            _ = $0.pins.insert(LazySettings.Pin(member: member.id, record: record))
          }
        }
        let report = try vault.fetch(record, of: member) { bar.update($0) }
        total.chunkCount += report.chunkCount
        total.byteCount += report.byteCount
      }
      bar.finish()
      Terminal.writeLine(
        total.chunkCount == 0
          ? "Everything was here already." : "Brought \(ByteCount.text(total.byteCount)) here.")
    }
  }
}
