import ArgumentParser
import Vault
import VaultModel

struct HandOverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hand-over",
    abstract: "Make another adult the owner of a member in your place.",
    discussion: """
      The other one becomes an owner, and you keep what you say: an editor reads and writes, a viewer reads. It is so for \
      everyone as soon as the folders were exchanged. Only an owner can do it, and cannot take it back.

      Examples:
        kinvault hand-over Emma --to Ben
        kinvault hand-over Emma --to Ben --keep nothing
      """)

  @Argument(help: "The member.", completion: MemberCompletion.kind) var member: String

  @Option(
    help: ArgumentHelp(
      "The new owner: their name, or the first digits of their id.", valueName: "person"))
  var to: String

  @Option(help: ArgumentHelp("What you keep: editor, viewer or nothing.", valueName: "role"))
  var keep = KeptRole.editor

  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      try vault.acceptIntroductions()
      let member = try RecordLookup(vault: vault).member(named: member)
      let other = try PersonLookup(vault: vault).find(to)
      guard !other.isSelf else {
        throw CommandError.usage("You are that already. Hand it over to somebody else.")
      }
      let name = Terminal.visible(member.name.string)
      if other.verification == .trustedOnFirstUse { Terminal.note(other.warning) }
      try Confirmation.require(
        "Hand \(name) over to \(other.shownName), and \(keep.text)? You cannot take it back.",
        isGiven: yes)
      try vault.handOver(member, to: other.id, keeping: keep.role)
      Terminal.writeLine(
        "\(other.shownName) is an owner of \(name) once the folders were exchanged, and you \(keep.text)."
      )
    }
  }
}

/// What somebody keeps who hands a member over, as it is typed.
enum KeptRole: String, ExpressibleByArgument, CaseIterable {
  case editor
  case viewer
  case nothing

  var role: Role? {
    switch self {
    case .editor: .editor
    case .viewer: .viewer
    case .nothing: nil
    }
  }

  /// After "you".
  fileprivate var text: String {
    switch self {
    case .editor: "stay as an editor"
    case .viewer: "stay as a viewer"
    case .nothing: "keep no access"
    }
  }
}
