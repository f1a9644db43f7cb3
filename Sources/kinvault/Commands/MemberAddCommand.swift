import ArgumentParser
import Vault
import VaultModel

struct MemberAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a family member.",
    discussion: """
      Example:
        kinvault member add Emma
      """)

  @Argument(help: "What the member is called.") var name: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let name = try MemberName.checked(name)
    try access.withVault(.writing) { vault in
      guard vault.member(named: name) == nil else {
        throw CommandError.alreadyExists("There is a member of this name already.")
      }
      _ = try vault.addMember(named: name)
      Terminal.writeLine("Added \(Terminal.visible(name.string)).")
    }
  }
}

/// Names that members can have who are named by a command. A mount gives them any that a folder has.
enum MemberName {
  static func checked(_ text: String) throws(CommandError) -> FileName {
    // One that lists show otherwise cannot be typed as it is seen.
    guard let name = FileName(text), Terminal.visible(text) == text,
      !text.allSatisfy(\.isWhitespace)
    else {
      throw .usage(
        "A member's name is a folder's name as well: 1 to 255 bytes that show, on one line, without \u{2018}/\u{2019}, not \u{2018}.\u{2019} or \u{2018}..\u{2019}."
      )
    }
    return name
  }
}
