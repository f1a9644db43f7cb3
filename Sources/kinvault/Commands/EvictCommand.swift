import ArgumentParser
import MachineState
import Vault
import VaultModel

struct EvictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Make room: remove attachments from this machine that a remote has.",
    discussion: """
      For a vault that was cloned with --lazy. Only what a remote surely has goes: it is asked for each piece. Records, \
      notes and lists always stay. What was fetched with --keep stays unless you name it with --no-keep.

      Examples:
        kinvault evict
        kinvault evict Emma/Scans --no-keep
        kinvault evict --cache-limit 2G
      """)

  @Argument(help: "Members or records; the whole vault when none is named.") var records: [String] =
    []
  @Flag(help: "What is named need no longer be kept here.") var noKeep = false

  @Option(
    help: ArgumentHelp(
      "From now on keep no more than this here of what nothing keeps: 500M, 2G.", valueName: "size")
  )
  var cacheLimit: ByteCountArgument?

  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      try LazyAccess.prepare(vault, key: key)
      var total = LazyReport()
      if let cacheLimit {
        try vault.setLazySettings { $0.cacheByteLimit = UInt64(cacheLimit.byteCount) }
      }
      if cacheLimit != nil, records.isEmpty {
        total = try vault.trimCache()
      } else {
        for (member, record) in try LazyAccess.targets(records, in: vault) {
          if noKeep {
            try vault.setLazySettings { settings in
              settings.pins.remove(LazySettings.Pin(member: member.id, record: record))
            }
          }
          let report = try vault.evict(record, of: member)
          total.chunkCount += report.chunkCount
          total.byteCount += report.byteCount
          total.keptCount += report.keptCount
          total.silence = total.silence ?? report.silence
        }
      }
      var text = "Removed \(ByteCount.text(total.byteCount)) from this machine."
      if total.keptCount > 0 { text += " \(counted(total.keptCount, "piece")) stayed: " }
      if let silence = total.silence {
        text += "not every remote can be asked now whether it has them (\(silence))."
      } else if total.keptCount > 0 {
        text += "no remote surely has them (kinvault sync)."
      }
      Terminal.writeLine(text)
      if total.silence != nil { throw CommandError.problemsFound }
    }
  }
}
