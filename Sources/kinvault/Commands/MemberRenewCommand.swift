import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct MemberRenewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renew",
    abstract: "Make a member anew without an owner who is lost for good.",
    discussion: """
      An owner who was there before you cannot be taken out by you. If they have lost every device and their 24 words, or \
      somebody else has these, another owner makes the member anew: all that stands in it now goes into a new one, whose \
      first owner you are, and which you share with everyone else as they have access now. Here it takes the old one's \
      name; the others are told, and accept it once (kinvault accept).

      The old member stays, with its history, and with everyone who had access; who wants to be rid of it leaves it \
      (kinvault leave). What was read until now cannot be recalled. If it is interrupted, the same command goes on with it.

      Example:
        kinvault member renew Emma --without Ben
      """)

  @Argument(help: "The member.", completion: MemberCompletion.kind) var member: String

  @Option(
    help: ArgumentHelp(
      "Who is lost: their name, or the first digits of their id. May be given more than once.",
      valueName: "person"))
  var without: [String]

  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      let old = try RecordLookup(vault: vault).member(named: member)
      let people = try PersonLookup.load(of: vault)
      let lost = try without.map(people.find)
      let name = Terminal.visible(old.name.string)
      let names = lost.map { people.name(of: $0.id) }.joined(separator: " and ")
      try Confirmation.require(
        "Make \(name) anew, without \(names), and share it with everyone else who has access?",
        isGiven: yes)
      let renewal = try renew(old, without: Set(lost.map(\.id)), in: vault)
      let shown = vault.shownNames
      Terminal.writeLine(
        "\(name) has been made anew, without \(names). It shows as \(Self.name(renewal.member, shown)), and the old one as "
          + "\(Self.name(old, shown)).")
      if !renewal.shared.isEmpty {
        let others = renewal.shared.map(people.name(of:)).joined(separator: ", ")
        Terminal.writeLine(
          "Shared with \(others). Sync, so that they see it. They say, on each of their machines: kinvault accept "
            + ShellWord.quoted(old.name.string))
      }
      for person in renewal.left {
        Terminal.note(
          "kinvault: \(people.name(of: person)) was not given it: they have no keys now that it could be given for, or have "
            + "access only by a place that was given up twice. Later, or if you know better: kinvault share"
        )
      }
      for record in renewal.incomplete {
        Terminal.note(
          "kinvault: \(Terminal.visible(old.displayPath(of: record))) could not be read as a whole; the rest of it is there. "
            + "To see what is damaged: kinvault check --read-data")
      }
    }
  }

  private func renew(
    _ old: Member, without lost: Set<PersonID>, in vault: Vault
  ) throws -> Renewal {
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    do {
      return try vault.renew(old, without: lost) { bar.update($0) }
    } catch {
      guard case .alreadyExists(let id) = error else { throw error }
      throw CommandError.alreadyExists(
        "\(Terminal.visible(old.name.string)) was made anew already (\(id.prefix(12))), by another owner or on another machine "
          + "of yours, and you have access to it. Two of them would part the family's records: take that one (kinvault "
          + "accept), or leave it first (kinvault leave).")
    }
  }

  private static func name(_ member: Member, _ shown: [MemberID: FileName]) -> String {
    Terminal.visible((shown[member.id] ?? member.name).string)
  }
}
