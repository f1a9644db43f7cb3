import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct HandOverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hand-over",
    abstract: "Offer another adult your place among the owners of a member.",
    discussion: """
      Owners stand in an order, and each can take out only who came after. The other one takes your place in it, and so \
      could take out whoever came after you; you stay as an editor. Nothing changes until they agree (kinvault accept), \
      on their machine, and the next sync of this one hands it over. You cannot take that back; until then you can \
      take the offer back.

      To make somebody an owner besides you: kinvault share. The order: kinvault access list.

      Examples:
        kinvault hand-over Emma --to Ben
        kinvault hand-over Emma --withdraw
      """)

  @Argument(help: "The member.", completion: MemberCompletion.kind) var member: String

  @Option(
    help: ArgumentHelp(
      "The new owner: their name, or the first digits of their id.", valueName: "person"))
  var to: String?

  @Flag(help: "Take back what you offer.") var withdraw = false
  @Flag(help: "Do not ask whether it is meant.") var yes = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    guard (to != nil) != withdraw else {
      throw ValidationError("Say to whom (--to PERSON), or that you take it back (--withdraw).")
    }
  }

  func run() throws {
    try access.withVault(.writing) { vault in
      try vault.acceptIntroductions()
      let member = try RecordLookup(vault: vault).member(named: member)
      guard let to else { return try takeBack(member, in: vault) }
      try offer(member, to: PersonLookup.load(of: vault).find(to), in: vault)
    }
  }

  private func offer(_ member: Member, to other: KnownPerson, in vault: Vault) throws {
    guard !other.isSelf else {
      throw CommandError.usage("You are that already. Hand it over to somebody else.")
    }
    let name = Terminal.visible(member.name.string)
    guard try member.accesses().contains(where: { $0.person == other.id && !$0.isLeaving }) else {
      throw CommandError.refused(
        "\(other.shownName) has no access to \(name), and would not see what you offer. First: kinvault share "
          + "\(ShellWord.quoted(member.name.string)) --with \(ShellWord.quoted(to ?? "")) --role editor"
      )
    }
    if !other.isVerified { Terminal.note(other.warning) }
    try Confirmation.require(
      "Offer \(other.shownName) your place among the owners of \(name)? You would stay as an editor.",
      isGiven: yes)
    try vault.offerPlace(in: member, to: other.id)
    let word = ShellWord.quoted(member.name.string)
    Terminal.writeLine(
      """
      \(other.shownName) is offered your place among the owners of \(name). Nothing changes until they agree.
      Sync, so that they see it. They say, on their machine: kinvault accept \(word)
      To take the offer back: kinvault hand-over \(word) --withdraw
      """)
  }

  private func takeBack(_ member: Member, in vault: Vault) throws {
    let name = Terminal.visible(member.name.string)
    do { try vault.withdrawOffer(in: member) } catch {
      guard case .notFound = error else { throw error }
      throw CommandError.notFound(
        "You offer nobody your place among the owners of \(name). Who stands where: kinvault access list"
      )
    }
    Terminal.writeLine(
      "You keep your place among the owners of \(name). Sync, so that the others know it too.")
  }
}
