import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Anna has handed her place over to Ben, who has let Dora in; then she writes another hand over, from before that one: to
/// a puppet. For Carla, who has seen neither, the place is contested. Docs/Format.md, "Which epoch is written under".
@Suite struct ContestedPlaceTests {
  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult
  private let carla: SyncingAdult
  private let dora: SyncingAdult
  private let puppet: SyncingAdult
  /// What Anna's links follow that are dated back.
  private let before: [StatementID]
  /// How she handed over to Ben.
  private let truth: StatementID

  /// Carla is an owner, and has not synced since.
  init() throws {
    let anna = try SyncingAdult(Family(count: 1)[0])
    self.anna = anna
    try anna.write("Visit")
    try anna.sync(usb)
    var others: [SyncingAdult] = []
    for name in ["Ben", "Carla", "Dora", "Puppet"] {
      let other = try SyncingAdult(joining: anna.vault.invite(), as: name)
      try other.sync(usb)
      try anna.sync(usb)
      #expect(try anna.vault.acceptIntroductions() == [other.vault.person])
      others.append(other)
    }
    (ben, carla, dora, puppet) = (others[0], others[1], others[2], others[3])
    let emma = try #require(anna.emma)
    try anna.vault.share(emma, with: carla.vault.person, role: .owner)
    try anna.vault.share(emma, with: ben.vault.person, role: .viewer)
    for adult in [anna] + others { try adult.sync(usb) }
    before = emma.register.links.history.tips

    try anna.vault.offerPlace(in: emma, to: ben.vault.person)
    for adult in [anna, ben] { try adult.sync(usb) }
    try ben.vault.agree(to: #require(ben.vault.offeredPlaces().first))
    for adult in [ben, anna] { try adult.sync(usb) }
    let places = emma.register.links.access.owners
    try #require(places == [ben.vault.person, carla.vault.person])
    let ends = emma.register.links.history.ends
    try #require(ends.count == 1)
    truth = ends[0]
    try ben.sync(usb)
    try ben.vault.share(#require(ben.emma), with: dora.vault.person, role: .viewer)
    try ben.sync(usb)
  }

  private var place: Place {
    get throws { Place(link: try #require(anna.emma).id.root, person: anna.vault.person) }
  }

  /// Signs a link on Anna's, or the puppet's, machine, and puts it on the remote alone.
  ///
  /// - Parameter isFit: Another time is taken until the link's id is.
  private func forge(
    by writer: SyncingAdult, as place: Place?, follows: [StatementID], _ change: Change,
    until isFit: (StatementID) -> Bool = { _ in true }
  ) throws -> StatementID {
    let context = writer.vault.context
    for time in 1...10_000 {
      let body = Link(
        member: try #require(anna.emma).id, person: context.person,
        certificate: try context.ownCertificate().id, place: place, follows: follows,
        changes: [change], time: UInt64(time)
      ).encoded()
      let id = writer.vault.id.statementID(.link, body: body)
      guard isFit(id) else { continue }
      let bytes = context.signedFiles.statement(.link, body) { context.device.signingKey.sign($0) }
      try usb.put(BlobPath(VaultPath.link(try #require(anna.emma).id, id).string), bytes)
      return id
    }
    throw CancellationError()
  }

  /// Of the two ends the lesser id is taken.
  private func handOverToThePuppet(isTaken: Bool) throws {
    let person = puppet.vault.person
    let offer = try forge(by: anna, as: place, follows: before, .offer(person))
    let agreement = try forge(by: puppet, as: nil, follows: [offer], .agree(person))
    _ = try forge(by: anna, as: place, follows: [agreement], .handOver(person)) {
      ($0 < truth) == isTaken
    }
  }

  /// These sync twice, and say yes to what they are offered.
  private func sync(_ adults: SyncingAdult...) throws {
    for adult in adults + adults {
      try adult.sync(usb)
      for offer in adult.vault.offeredMembers { try adult.vault.accept(offer.member.id) }
    }
  }

  private var access: Access {
    get throws { try #require(carla.emma).register.links.access }
  }

  @Test func thePuppetGetsNoKeyFromWhoHasSeenNeither() throws {
    try handOverToThePuppet(isTaken: true)
    try sync(carla, puppet)
    #expect(try access.contested == [place])
    #expect(try access.owners == [puppet.vault.person, carla.vault.person])
    #expect(try access.claimed == [puppet.vault.person])
    // Carla's sync has given the keys of the epoch in use to whoever lacked them; now she takes Anna out.
    #expect(puppet.vault.openedMembers.isEmpty)
    try carla.vault.beginEpoch(of: #require(carla.emma), without: [anna.vault.person])
    try carla.write("Secret")
    try sync(carla, puppet, ben, puppet)
    #expect(puppet.vault.openedMembers.isEmpty)
    // Ben has seen what became of the place, whatever came first to Carla.
    let known = try #require(ben.emma).register.links.access
    #expect(known.contested == [] && known.claimed == [])
    #expect(known.owners == [ben.vault.person, carla.vault.person])
    #expect(try ben.titles.contains("Secret"))
  }

  /// Whom Ben, who has the place rightly, has let in is no better known to Carla.
  private func beginAnEpochWithoutDora() throws {
    try handOverToThePuppet(isTaken: false)
    try sync(carla, dora)
    #expect(try access.contested == [place])
    #expect(try access.owners == [ben.vault.person, carla.vault.person])
    #expect(try access.claimed == [dora.vault.person])
    #expect(try dora.titles == ["Visit"])
    try carla.vault.beginEpoch(of: #require(carla.emma), without: [anna.vault.person])
    try carla.write("Secret")
    try sync(carla, dora)
    #expect(try dora.titles == ["Visit"])
  }

  @Test func whoIsOnlyClaimedGetsTheKeyFromAMachineThatRemembers() throws {
    try beginAnEpochWithoutDora()
    try sync(ben, dora)
    #expect(try dora.titles == ["Secret", "Visit"])
  }

  @Test func whoIsOnlyClaimedGetsTheKeyFromAnOwnerWhoSharesTheMember() throws {
    try beginAnEpochWithoutDora()
    try carla.vault.share(#require(carla.emma), with: dora.vault.person, role: .viewer)
    #expect(try access.claimed == [])
    try sync(carla, dora)
    #expect(try dora.titles == ["Secret", "Visit"])
    #expect(throws: VaultError.self) {
      try carla.vault.share(#require(carla.emma), with: dora.vault.person, role: .viewer)
    }
  }
}
