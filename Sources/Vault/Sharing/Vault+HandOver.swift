import BlobStore
import MachineState
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A place among a member's owners that its holder offers to somebody else, as the two see it.
package struct OfferedPlace: Hashable, Sendable {
  package let member: MemberID
  package let giver: PersonID
  package let taker: PersonID
  /// Of the giver, which hands over when the taker has agreed.
  package let device: DeviceID
  /// By the giver's clock, in milliseconds since 1970.
  package let time: UInt64
  package let isAgreed: Bool
  fileprivate let id: StatementID
}

/// What a sync did by itself about an offer.
package struct HandOverStep: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The place is the taker's.
    case handedOver
    /// The giver has changed something since the offer, so it was made anew.
    case offeredAnew
    /// The taker had agreed already, to an offer that was made anew.
    case agreedAgain
  }

  package let kind: Kind
  package let member: MemberID
  package let giver: PersonID
  package let taker: PersonID
}

/// How a place among a member's owners goes to somebody else. Docs/Format.md, section 16, "Handing over".
extension Vault {
  /// Offers this person's most senior place in a member to someone who has access. Nothing changes until they agree. Durable
  /// when it returns; of an offer that was made before nothing is left.
  ///
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` for someone without access.
  package func offerPlace(in member: Member, to taker: PersonID) throws(VaultError) {
    precondition(taker != person, "nothing would be offered")
    try writeOffer(in: member) { (links) throws(VaultError) in
      guard links.access.includes(taker) else {
        throw .notFound(what: "access of the person \(taker.shortHex)")
      }
      return taker
    }
    audit.note(.share, member: member.id, person: taker, detail: "place offered")
  }

  /// Takes back what this person offers of a member. Durable when it returns.
  ///
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` if nothing is offered (any more).
  package func withdrawOffer(in member: Member) throws(VaultError) {
    try writeOffer(in: member) { (links) throws(VaultError) in
      guard links.history.offers.contains(where: { $0.giver == person }) else {
        throw .notFound(what: "offer of yours of the member \(member.id.shortHex)")
      }
      return person
    }
    audit.note(.share, member: member.id, detail: "offer withdrawn")
  }

  private func writeOffer(
    in member: Member, _ taker: (MemberLinks) throws(VaultError) -> PersonID
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    try member.reloadLinks()
    guard member.role == .owner else { throw .ownersOnly(member: member.id) }
    let links = member.register.links
    try LinkWriter.begin(links, context).write([.offer(taker(links))])
    try member.reloadLinks()
    try member.commitNothing()
  }

  /// Agrees to take the place in a member that this person is offered. It goes over with the next sync of the device that
  /// offers it. Durable when it returns.
  ///
  /// - Throws: `readOnly`; `notFound` if nothing is offered (any more).
  package func agree(to offer: OfferedPlace) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    guard let member = member(offer.member) else { throw .noAccess(member: offer.member) }
    try context.reloadPeople()
    try member.reloadLinks()
    let found = member.register.links.history.offers.first {
      $0.id == offer.id && $0.taker == person
    }
    guard let found else { throw .notFound(what: "such offer any more") }
    try agree(to: found, in: member)
  }

  private func agree(to offer: PlaceOffer, in member: Member) throws(VaultError) {
    try LinkWriter.begin(member.register.links, context).agree(to: offer)
    try announceLinks(of: member)
    audit.note(.share, member: member.id, person: offer.giver, detail: "place agreed to")
  }

  /// Has others find a link that was just written, by the head or by the register, also where this person may write no head
  /// (any more).
  private func announceLinks(of member: Member) throws(VaultError) {
    try member.reloadLinks()
    if member.mayWrite, try member.commitNothingIfPossible() { return }
    try renewRegister()
  }

  /// The places that this person offers, or is offered, by member.
  package func offeredPlaces() throws(VaultError) -> [OfferedPlace] {
    members.flatMap { member in
      member.register.links.history.offers.compactMap { offer in
        guard offer.giver == person || offer.taker == person,
          let device = context.people.trust.statements.certificates[offer.certificate]?.device
        else { return nil }
        return OfferedPlace(
          member: member.id, giver: offer.giver, taker: offer.taker, device: device,
          time: offer.time, isAgreed: offer.agreement != nil || offer.hadAgreement, id: offer.id)
      }
    }
  }

  /// Hands over what this device offers and was agreed to; makes an offer anew that was overtaken by what this person has
  /// done since; agrees to one that was made anew after this person had agreed.
  ///
  /// - Returns: What was done, and the members of which not all of it could be.
  package func tendHandOvers() -> MemberByMember<HandOverStep> {
    var tended = MemberByMember<HandOverStep>()
    guard !isReadOnly else { return tended }
    for member in members {
      tended.add(member) { (done) throws(VaultError) in
        guard try context.ownPerson().generation != nil, try reloadLinks(of: member) else { return }
        for offer in member.register.links.history.offers {
          guard let kind = try tend(offer, of: member) else { continue }
          // The link stands, whether it can be announced or not.
          done.append(
            HandOverStep(kind: kind, member: member.id, giver: offer.giver, taker: offer.taker))
          if kind != .agreedAgain { try announceLinks(of: member) }
        }
      }
    }
    return tended
  }

  private func tend(
    _ offer: PlaceOffer, of member: Member
  ) throws(VaultError) -> HandOverStep.Kind? {
    if offer.taker == person {
      guard offer.agreement == nil, offer.hadAgreement, !offer.isOvertaken else { return nil }
      try agree(to: offer, in: member)
      return .agreedAgain
    }
    guard offer.giver == person, try offer.certificate == context.ownCertificate().id else {
      return nil
    }
    let writer = try LinkWriter.begin(member.register.links, context)
    if offer.isOvertaken {
      try writer.write([.offer(offer.taker)], as: offer.place)
      return .offeredAnew
    }
    guard let agreement = offer.agreement else { return nil }
    try writer.handOver(offer, after: agreement)
    audit.note(.share, member: member.id, person: offer.taker, detail: "handed over")
    return .handedOver
  }
}

/// Which offers this machine has told of. Docs/Format.md, "This machine's state".
extension Vault {
  private static let toldPath: BlobPath = "told-offers"

  /// The places that this person is offered, has not agreed to take, and was not told of on this machine. From now on they
  /// are told, unless the state can not be written.
  package func untoldOffers() throws(VaultError) -> [OfferedPlace] {
    let open = try offeredPlaces().filter { $0.taker == person && !$0.isAgreed }
    let told = try toldOffers()
    let remembered = Self.remembered(
      Dictionary(grouping: open, by: \.giver).mapValues { $0.map(\.id) })
    let new = open.filter { remembered.contains($0.id) && !told.contains($0.id) }
    if new.isEmpty { return [] }
    try keepTold(remembered)
    return new
  }

  /// So many are told and remembered: whoever holds places in members of their own making may offer any number of them.
  static let toldOffersLimit = 1_024

  /// Those of the offers of each giver that are told: of each as many, so that nobody hides those of others.
  static func remembered(_ offers: [PersonID: [StatementID]]) -> Set<StatementID> {
    let givers = offers.sorted { $0.key < $1.key }.map { $0.value.sorted() }
    return Set(HeadRoom.inTurn(givers).prefix(toldOffersLimit))
  }

  func keepTold(_ offers: Set<StatementID>) throws(VaultError) {
    // Who cannot write there is told again.
    try context.state.replaceIfWritable(Self.toldPath, offers.sorted().flatMap(\.bytes))
  }

  func toldOffers() throws(VaultError) -> Set<StatementID> {
    // What was written there before it was bounded is told again.
    try context.state.loadIDs(at: Self.toldPath, limit: Self.toldOffersLimit)
  }
}
