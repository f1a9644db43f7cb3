import ArgumentParser
import Glibc
import Vault
import VaultErrors
import VaultModel

struct ShareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share",
    abstract: "Let another adult read a member's records, or change them.",
    discussion: """
      A viewer reads; an editor reads and writes; an owner shares with others as well. The other one sees the \
      member once the folders were exchanged. Only owners share. Who has access gets a stronger role in the same way, \
      or a later end; for less, take it away first (kinvault unshare). Of two who have answered one invitation it asks first \
      whether it is meant, until you have compared words with one of them.

      Examples:
        kinvault share Emma --with Ben --role editor
        kinvault share Emma --with "Dr. Grey" --role viewer --until 2026-12-31
      """)

  @Argument(help: "The member.", completion: MemberCompletion.kind) var member: String

  @Option(
    help: ArgumentHelp(
      "The other one: their name, or the first digits of their id.", valueName: "person"))
  var with: String

  @Option(help: ArgumentHelp("owner, editor or viewer.", valueName: "role"))
  var role: RoleArgument

  @Option(
    help: ArgumentHelp(
      "The last day of it, in this machine's time; not for owners.", valueName: "date"))
  var until: DateArgument?

  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let role = role.role
    let end = try end(of: role)
    try access.withVault(.writing) { vault in
      try vault.acceptIntroductions()
      let member = try RecordLookup(vault: vault).member(named: member)
      let other = try PersonLookup.load(of: vault).find(with)
      if let contested = try vault.contestedInvitation(of: other.id) {
        try Confirmation.require(
          "\(contested.text)\nShare \(Terminal.visible(member.name.string)) with \(other.shownName) all the same?",
          isGiven: yes)
      }
      do throws(VaultError) {
        try vault.share(member, with: other.id, role: role, until: end)
      } catch {
        guard case .alreadyExists = error else { throw error }
        throw CommandError.alreadyExists(
          "\(other.shownName) has this access already, or more. To give less, or to share anew with someone who is "
            + "leaving, take it away first: kinvault unshare. Who can read what: kinvault access list"
        )
      }
      if !other.isVerified { Terminal.note(other.warning) }
      Terminal.writeLine(
        "\(other.shownName) is \(role == .viewer ? "a" : "an") \(role) of "
          + "\(Terminal.visible(member.name.string)) once the folders were exchanged.")
    }
  }

  /// The end of the last day, in milliseconds since 1970.
  private func end(of role: Role) throws -> UInt64? {
    guard let until else { return nil }
    guard role != .owner else {
      throw CommandError.usage("An owner's access has no end; leave --until out.")
    }
    guard let end = until.begin(addingDays: 1) else {
      throw CommandError.usage("--until takes a whole date, such as 2026-12-31.")
    }
    guard end > UInt64(clamping: time(nil)) * 1000 else {
      throw CommandError.usage("That day is over.")
    }
    return end
  }
}

/// A role as it is typed.
enum RoleArgument: String, ExpressibleByArgument, CaseIterable {
  case owner
  case editor
  case viewer

  var role: Role {
    switch self {
    case .owner: .owner
    case .editor: .editor
    case .viewer: .viewer
    }
  }
}
