import ArgumentParser
import Vault
import VaultModel

struct MemberRenameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give a family member another name.",
    discussion: """
      Example:
        kinvault member rename Emma "Emma Rose"
      """)

  @Argument(help: "The member's name now.", completion: MemberCompletion.kind) var name: String
  @Argument(help: "The new name.") var newName: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let newName = try MemberName.checked(newName)
    try access.withVault(.writing) { vault in
      let member = try RecordLookup(vault: vault).member(named: name)
      guard vault.member(named: newName) == nil else {
        throw CommandError.alreadyExists("There is a member of the new name already.")
      }
      try vault.commit(
        RecordEdit(
          record: .root, place: RecordPlace(parent: nil, title: newName, isDeleted: false)),
        to: member)
      vault.audit.note(.write, member: member.id, record: .root, detail: "rename")
      Terminal.writeLine("Renamed to \(Terminal.visible(newName.string)).")
    }
  }
}
