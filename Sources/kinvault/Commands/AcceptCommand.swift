import ArgumentParser
import Vault
import VaultModel

struct AcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Take a family member that someone unverified shared with you.",
    discussion: """
      What somebody shares with you whose keys nothing but the folder vouches for is not shown, so that nobody slips a \
      member of theirs in between yours. Once you have compared words with them (kinvault verify) all that they share \
      shows by itself; or accept one member, on this machine. Without a name: what there is to accept.

      Examples:
        kinvault accept
        kinvault accept Emma
      """)

  @Argument(help: "The member: the name, or the first digits of the id.") var member: String?
  @Flag(help: "Say yes beforehand.") var yes = false
  @Flag(help: "Print what there is to accept as JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    guard let member else { return try list() }
    try access.withVault(.writing) { vault in
      let offers = try Offer.all(in: vault)
      let found = offers.filter { $0.isMeant(by: member) }
      guard let offer = found.first else {
        throw CommandError.notFound(
          "Nobody offers you a member \u{201C}\(Terminal.visible(member))\u{201D}. To see what there is: kinvault accept"
        )
      }
      guard found.count == 1 else {
        throw CommandError.usage(
          "More than one is called that. Name one by the id: "
            + found.map(\.shortID).joined(separator: ", "))
      }
      try Confirmation.require(
        "\(offer.name) comes from \(offer.givers), \(offer.verification): nothing but this folder says whose keys these "
          + "are. Show it, and let \(offer.givers) read what you put there?", isGiven: yes)
      try vault.accept(offer.id)
      Terminal.writeLine(
        "\(offer.name) shows from now on, as \(Terminal.visible(vault.shownNames[offer.id]?.string ?? offer.name))."
      )
    }
  }

  private struct Row: Encodable {
    var id: String
    var name: String
    var from: String
    var since: String
    var verification: String
  }

  private func list() throws {
    let offers = try access.withVault(.reading) { try Offer.all(in: $0) }
    if json {
      try JSONOutput.print(
        offers.map {
          Row(
            id: $0.id.hex, name: $0.rawName, from: $0.givers,
            since: DateText.utc(milliseconds: $0.time), verification: $0.verification)
        })
      return
    }
    var table = Table("NAME", "FROM", "SINCE", "VERIFIED", "ID")
    for offer in offers {
      table.add([
        offer.name, offer.givers, DateText.local(milliseconds: offer.time), offer.verification,
        offer.shortID,
      ])
    }
    table.print(orElse: "There is nothing to accept.")
  }
}

/// A member that waits for a yes, in words.
struct Offer {
  let id: MemberID
  let rawName: String
  let givers: String
  let time: UInt64
  let verification: String

  var name: String { Terminal.visible(rawName) }
  var shortID: String { String(id.hex.prefix(12)) }

  static func all(in vault: Vault) throws(VaultError) -> [Offer] {
    let offered = vault.offeredMembers
    if offered.isEmpty { return [] }
    let people = try PersonLookup(vault: vault)
    return offered.map { offer in
      let known = offer.gifts.compactMap { gift in people.people.first { $0.id == gift.giver } }
      return Offer(
        id: offer.member.id, rawName: offer.member.name.string,
        givers: offer.gifts.map { people.name(of: $0.giver) }.joined(separator: " and "),
        time: offer.gifts.first?.time ?? 0,
        verification: (known.first?.verification ?? .trustedOnFirstUse).text)
    }
  }

  func isMeant(by text: String) -> Bool {
    rawName == text || text.count >= 6 && id.hex.hasPrefix(text.lowercased())
  }

  /// For whoever does not see it.
  var line: String {
    "\(givers), whose keys you have not verified, offers you \u{201C}\(name)\u{201D}. To see it: kinvault accept \(shortID)"
  }
}
