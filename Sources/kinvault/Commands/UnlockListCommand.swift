import ArgumentParser
import Vault
import VaultModel

struct UnlockListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what unlocks the vault on this machine.",
    discussion: """
      Any one of them will do. Needs no password.

      Example:
        kinvault unlock list
      """)

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var folderOptions: FolderOptions

  private struct Row: Encodable {
    var name: String
    var id: String
    var needs: [String]
    var added: String
  }

  func run() throws {
    let slots = try UnlockSlots(of: .here(in: folderOptions.folder()))
    let (known, damaged) = try slots.all()
    for failure in damaged { Terminal.note("kinvault: \(FailureReport(failure).message)") }
    if json {
      try JSONOutput.print(
        known.map { slot in
          Row(
            name: slot.name, id: slot.id.hex, needs: slot.parts.map { UnlockKind($0).rawValue },
            added: DateText.utc(milliseconds: slot.created))
        })
      return
    }
    var table = Table("NAME", "NEEDS", "ADDED")
    for slot in known {
      table.add([
        slot.name, slot.parts.map { UnlockKind($0).description }.joined(separator: " and "),
        DateText.local(milliseconds: slot.created),
      ])
    }
    table.print(orElse: "Nothing. The 24 words make a new password: kinvault recover")
  }
}
