import ArgumentParser
import Vault
import VaultModel

struct RecordShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a record: its fields, its note, what is attached.",
    discussion: """
      Examples:
        kinvault record show "Emma/Vaccines/2025-01-20 COVID-19"
        kinvault record show 3f9a01bc --json
      """)

  @Argument(help: "The record: its path, or the first digits of its id.") var record: String
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let view = try access.withVault(.reading) { vault in
      let found = try RecordLookup(vault: vault).record(record)
      vault.audit.note(.read, member: found.member.id, record: found.record)
      return try RecordView.load(found, authors: AuthorshipText.load(of: vault))
    }
    if json { try JSONOutput.print(view) } else { view.print() }
  }
}
