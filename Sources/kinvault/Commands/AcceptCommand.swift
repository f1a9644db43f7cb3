import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct AcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract:
      "Take what you are offered: a member from someone unverified or made anew, or an owner's place.",
    discussion: """
      An owner of a member may offer you their place (kinvault hand-over): you become an owner where they stood, and they \
      stay as an editor. It is yours with the next sync of the device on which they offered it.

      What somebody shares with you whose keys nothing but the folder vouches for is not shown, so that nobody slips a \
      member of theirs in between yours. Once you have compared words with them (kinvault verify) all that they share \
      shows by itself; or accept one member, on this machine. Without a name: what there is to accept.

      A member that one of its owners has made anew without somebody (kinvault member renew) takes the old one's name once \
      you accept it; the old one stays, with a part of its id behind its name.

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
      let places = try vault.offeredPlaces().filter { $0.taker == vault.person }
      // Whoever gives a member has chosen its name: it may be that of one whose owner offers their place.
      let all =
        offers.map { (id: $0.id, name: $0.rawName) }
        + places.map { (id: $0.member, name: vault.member($0.member)?.name.string ?? "") }
      let named = try NameOrDigits(member).one(among: all, name: { $0.name }, id: { $0.id.hex })
      guard let offer = offers.first(where: { $0.id == named?.id }) else {
        let meant = places.filter { $0.member == named?.id }
        guard let place = meant.first(where: { !$0.isAgreed }) ?? meant.first else {
          throw CommandError.notFound(
            "Nobody offers you a member \u{201C}\(Terminal.visible(member))\u{201D}. To see what there is: kinvault accept"
          )
        }
        return try take(place, in: vault)
      }
      try Confirmation.require(offer.question, isGiven: yes)
      try vault.accept(offer.id)
      Terminal.writeLine(
        "\(offer.name) shows from now on, as \(Terminal.visible(vault.shownNames[offer.id]?.string ?? offer.name))."
      )
    }
  }

  private func take(_ offer: OfferedPlace, in vault: Vault) throws {
    let people = try PersonLookup.load(of: vault)
    let giver = people.name(of: offer.giver)
    let name = Terminal.visible(vault.member(offer.member)?.name.string ?? offer.member.shortHex)
    if let other = people.known[offer.giver], !other.isVerified { Terminal.note(other.warning) }
    if !offer.isAgreed {
      try Confirmation.require(
        "Take \(giver)'s place among the owners of \(name)? You decide then who has access, and \(giver) stays as an "
          + "editor.", isGiven: yes)
      try vault.agree(to: offer)
    }
    Terminal.writeLine(
      "You have agreed to take \(giver)'s place among the owners of \(name). Sync, so that \(giver) learns of it: the next "
        + "sync of the device on which they offered it hands it over. Until then nothing changes.")
  }

  private struct Row: Encodable {
    var what: String
    var id: String
    var name: String
    var from: String
    var since: String
    var verification: String

    init(_ offer: Offer) {
      (what, id, name, from) = ("member", offer.id.hex, offer.rawName, offer.givers)
      since = DateText.utc(milliseconds: offer.time)
      verification = offer.verification
    }

    init(_ offered: PlaceInWords) {
      (what, id, name, from) = ("place", offered.place.member.hex, offered.name, offered.giver)
      since = DateText.utc(milliseconds: offered.place.time)
      verification = offered.verification
    }
  }

  /// A place among owners that waits for a yes, in words.
  private struct PlaceInWords {
    let place: OfferedPlace
    let name: String
    let giver: String
    let verification: String

    static func all(in vault: Vault) throws -> [PlaceInWords] {
      let people = try PersonLookup.load(of: vault)
      return try vault.offeredPlaces().filter { $0.taker == vault.person && !$0.isAgreed }
        .map { place in
          PlaceInWords(
            place: place, name: vault.member(place.member)?.name.string ?? place.member.shortHex,
            giver: people.name(of: place.giver),
            verification: (people.known[place.giver]?.verification ?? .trustedOnFirstUse).text)
        }
    }
  }

  private func list() throws {
    let (offers, places) = try access.withVault(.reading) { vault in
      (try Offer.all(in: vault), try PlaceInWords.all(in: vault))
    }
    if json {
      return try JSONOutput.print(offers.map(Row.init) + places.map(Row.init))
    }
    var table = Table("NAME", "WHAT", "FROM", "SINCE", "VERIFIED", "ID")
    for offer in offers {
      table.add([
        offer.name, offer.renewal == nil ? "to see it" : "made anew", offer.givers,
        DateText.local(milliseconds: offer.time),
        offer.verification,
        offer.shortID,
      ])
    }
    for offer in places {
      table.add([
        Terminal.visible(offer.name), "their place as an owner", offer.giver,
        DateText.local(milliseconds: offer.place.time), offer.verification,
        String(offer.place.member.hex.prefix(12)),
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
  /// Of one that was made anew: what the old one shows as, its maker, and who has access to the old one and not to this one.
  let renewal: (old: String, maker: String, isVerified: Bool, without: String)?

  var name: String { Terminal.visible(rawName) }
  var shortID: String { String(id.hex.prefix(12)) }

  static func all(in vault: Vault) throws(VaultError) -> [Offer] {
    let offered = vault.offeredMembers
    if offered.isEmpty { return [] }
    let people = try PersonLookup.load(of: vault)
    let shown = vault.shownNames
    return offered.map { offer in
      let known = offer.gifts.compactMap { people.known[$0.giver] }
      return Offer(
        id: offer.member.id, rawName: offer.member.name.string,
        givers: offer.gifts.map { people.name(of: $0.giver) }.joined(separator: " and "),
        time: offer.gifts.first?.time ?? 0,
        verification: (known.first?.verification ?? .trustedOnFirstUse).text,
        renewal: offer.renews.map { old in
          (
            Terminal.visible((shown[old.id] ?? old.name).string),
            people.name(of: offer.member.creator),
            people.known[offer.member.creator]?.isVerified ?? false,
            offer.without.isEmpty
              ? "nobody less" : offer.without.map(people.name(of:)).joined(separator: " and ")
          )
        })
    }
  }

  func isMeant(by text: String) -> Bool {
    !NameOrDigits(text).meant(among: [self], name: { $0.rawName }, id: { $0.id.hex }).isEmpty
  }

  /// What to say yes to.
  var question: String {
    guard let renewal else {
      return
        "\(name) comes from \(givers), \(verification): nothing but this folder says whose keys these are. Show it, "
        + "and let \(givers) read what you put there?"
    }
    let doubt =
      renewal.isVerified
      ? ""
      : " Nothing but this folder says whose keys \(renewal.maker)'s are, here as in the old one."
    let isNamesake = renewal.old == name
    let (calling, place) =
      isNamesake
      ? ("", "Take it in the place of the old one, which stays under another name?")
      : (" as \(name)", "Take it beside \(renewal.old), which keeps its name?")
    return
      "\(renewal.maker), an owner of \(renewal.old), has made it anew\(calling), without \(renewal.without), and is its first "
      + "owner.\(doubt) \(place)"
  }

  /// For whoever does not see it.
  var line: String {
    if let renewal {
      return
        "\(renewal.maker), an owner of \u{201C}\(renewal.old)\u{201D}, has made it anew, without \(renewal.without). What is "
        + "written there does not show here yet. To take it: kinvault accept \(shortID)"
    }
    return
      "\(givers), whose keys you have not verified, offers you \u{201C}\(name)\u{201D}. To see it: kinvault accept \(shortID)"
  }
}
