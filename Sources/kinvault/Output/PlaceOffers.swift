import Vault
import VaultErrors
import VaultModel

/// The places among owners that the person who runs the program offers, or is offered, in words.
struct PlaceOffers {
  struct Row: Encodable {
    var member: String
    var giver: String
    var taker: String
    var offered: String
    var isAgreed: Bool
  }

  let vault: Vault
  let all: [OfferedPlace]
  private let people: PersonLookup?

  static func load(of vault: Vault) throws(VaultError) -> PlaceOffers {
    try load(of: vault, vault.offeredPlaces())
  }

  /// - Parameter offers: some of those.
  static func load(of vault: Vault, _ offers: [OfferedPlace]) throws(VaultError) -> PlaceOffers {
    // Reading who is there is not for nothing.
    let people = offers.isEmpty ? nil : try PersonLookup.load(of: vault)
    return PlaceOffers(vault: vault, all: offers, people: people)
  }

  var rows: [Row] {
    all.map { offer in
      Row(
        member: name(offer.member), giver: name(offer.giver), taker: name(offer.taker),
        offered: DateText.utc(milliseconds: offer.time), isAgreed: offer.isAgreed)
    }
  }

  /// A line each: what is offered, how far it is, and what comes next.
  var lines: [String] { all.map(line) }

  func line(_ offer: OfferedPlace) -> String {
    let member = Terminal.visible(name(offer.member))
    let word = ShellWord.quoted(name(offer.member))
    let (giver, taker) = (name(offer.giver), name(offer.taker))
    if offer.taker == vault.person {
      return offer.isAgreed
        ? "You have agreed to take \(giver)'s place among the owners of \(member). It is yours with the next sync of the "
          + "device on which \(giver) offered it."
        : "\(giver) offers you their place among the owners of \(member): you could share it, and take out whoever "
          + "became an owner later. To take it: kinvault accept \(word)"
    }
    let device = Terminal.visible(vault.name(of: offer.device))
    let back = "To take the offer back: kinvault hand-over \(word) --withdraw"
    return offer.isAgreed
      ? "\(taker) has agreed to take your place among the owners of \(member): the next sync of \(device) hands it over. "
        + back
      : "You offer \(taker) your place among the owners of \(member). They have not agreed yet. \(back)"
  }

  private func name(_ person: PersonID) -> String {
    people?.name(of: person) ?? person.shortHex
  }

  private func name(_ member: MemberID) -> String {
    vault.member(member)?.name.string ?? member.shortHex
  }
}

extension HandOverStep {
  /// What a sync has done, and what comes next.
  func text(in vault: Vault, _ people: PersonLookup?) -> String {
    let member = vault.member(member)?.name.string ?? member.shortHex
    func name(_ person: PersonID) -> String { people?.name(of: person) ?? person.shortHex }
    return switch kind {
    case .handedOver:
      "\(name(taker)) has your place among the owners of \(member) now, and you are an editor. To give that up as well: "
        + "kinvault leave \(ShellWord.quoted(member))"
    case .offeredAnew:
      "Your offer of \(member) to \(name(taker)) was made anew, since you have changed something in who has access. "
        + "If they had agreed, their next sync says so again."
    case .agreedAgain:
      "\(name(giver)) has made their offer of \(member) anew, and you have agreed again."
    }
  }
}
