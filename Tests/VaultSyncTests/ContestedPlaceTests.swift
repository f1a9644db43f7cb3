import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Anna has handed her place over to Ben, who has let Dora in; then she writes another hand over, from before that one: to
/// a puppet. For Carla, who has seen neither, the place is contested. Docs/Format.md, "Which epoch is written under".
@Suite struct ContestedPlaceTests {
  let usb = MemoryStore()
  /// The remote as it was before Anna handed over, where the puppet's hand over is put for whoever has seen nothing else.
  let thiefs: MemoryStore
  let anna: SyncingAdult
  let ben: SyncingAdult
  let carla: SyncingAdult
  let dora: SyncingAdult
  let puppet: SyncingAdult
  /// What Anna's links follow that are dated back.
  let before: [StatementID]
  /// How she handed over to Ben.
  let truth: StatementID

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
    thiefs = usb.imageAfterKill()

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

  var place: Place {
    get throws { Place(link: try #require(anna.emma).id.root, person: anna.vault.person) }
  }

  /// Signs a link on Anna's, or the puppet's, machine, and puts it on a remote alone.
  ///
  /// - Parameter isFit: Another time is taken until the link's id is.
  func forge(
    by writer: SyncingAdult, as place: Place?, follows: [StatementID], _ change: Change,
    into store: MemoryStore, until isFit: (StatementID) -> Bool = { _ in true }
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
      try store.put(BlobPath(VaultPath.link(try #require(anna.emma).id, id).string), bytes)
      return id
    }
    throw CancellationError()
  }

  /// Of the two ends the lesser id is taken.
  @discardableResult
  func handOverToThePuppet(isTaken: Bool, in store: MemoryStore) throws -> StatementID {
    let person = puppet.vault.person
    let offer = try forge(by: anna, as: place, follows: before, .offer(person), into: store)
    let agreement = try forge(
      by: puppet, as: nil, follows: [offer], .agree(person), into: store)
    return try forge(
      by: anna, as: place, follows: [agreement], .handOver(person), into: store
    ) { ($0 < truth) == isTaken }
  }

  /// These sync twice, and say yes to what they are offered.
  func sync(_ adults: SyncingAdult...) throws {
    for adult in adults + adults {
      try adult.sync(usb)
      for offer in adult.vault.offeredMembers { try adult.vault.accept(offer.member.id) }
    }
  }

  var access: Access {
    get throws { try #require(carla.emma).register.links.access }
  }

  @Test func thePuppetGetsNoKeyFromWhoHasSeenNeither() throws {
    try handOverToThePuppet(isTaken: true, in: usb)
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
    try handOverToThePuppet(isTaken: false, in: usb)
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

  @Test func whoIsOnlyClaimedIsNotGivenAMemberThatIsMadeAnew() throws {
    try handOverToThePuppet(isTaken: false, in: usb)
    try sync(carla, dora)
    try #require(access.claimed == [dora.vault.person])
    let renewal = try carla.vault.renew(#require(carla.emma), without: [ben.vault.person])
    #expect(renewal.left == [dora.vault.person])
    #expect(!renewal.shared.contains(dora.vault.person))
  }

  // MARK: A person settles it

  func syncWithTheThief(_ adult: SyncingAdult) throws {
    for _ in 0..<2 {
      try adult.sync(thiefs, as: "thiefs")
      for offer in adult.vault.offeredMembers { try adult.vault.accept(offer.member.id) }
    }
  }

  /// Carla meets the puppet's end alone, and goes by it: the puppet takes Ben out, and she writes what the puppet reads.
  ///
  /// - Returns: The puppet's end.
  func misleadCarla() throws -> StatementID {
    let forged = try handOverToThePuppet(isTaken: false, in: thiefs)
    for adult in [carla, puppet, carla, puppet] { try syncWithTheThief(adult) }
    try puppet.vault.beginEpoch(of: #require(puppet.emma), without: [ben.vault.person])
    for adult in [puppet, carla] { try syncWithTheThief(adult) }
    try carla.write("Misled")
    for adult in [carla, puppet] { try syncWithTheThief(adult) }
    try #require(puppet.titles == ["Misled", "Visit"])
    try #require(access.owners == [puppet.vault.person, carla.vault.person])
    return forged
  }

  /// Another process of Carla's.
  func reopened() throws -> Vault {
    let context = carla.vault.context
    let key = try UnlockSlots(vault: carla.vault.id, state: context.state)
      .open(password: SecretBytes(copying: Array("pw".utf8))).takeKey()
    return try Vault.open(
      VaultCopy(id: carla.vault.id, store: carla.store, state: context.state, clock: .system),
      key: key, options: OpenOptions())
  }

  @Test func aPersonSaysWhichEndIsTrueAndNothingIsLost() throws {
    let forged = try misleadCarla()
    // The true one comes, and does not count: Carla is told so, and asks.
    try sync(carla)
    #expect(try access.owners == [puppet.vault.person, carla.vault.person])
    let links = try carla.vault.context.opening(of: #require(carla.emma).id).loadLinks()
    let told = links.problems.first { $0.path.contains(truth.hex) }
    #expect(told?.severity == .warning && told?.reason.contains("kinvault member settle") == true)
    let places = try carla.vault.placesToSettle()
    #expect(places.flatMap(\.place.ends).map(\.link) == [forged, truth])
    #expect(places.flatMap(\.place.ends).map(\.counts) == [true, false])
    #expect(
      places.flatMap(\.place.ends).map(\.taker) == [puppet.vault.person, ben.vault.person])
    #expect(places.map(\.place.isRemembered) == [true])
    let member = try #require(carla.emma).id
    let beside = try reopened()

    try carla.vault.settle(member, on: truth)
    #expect(try access.owners == [ben.vault.person, carla.vault.person])
    // Another process, which has judged by what was remembered before, changes nothing by what it remembers.
    if let other = beside.member(member) { try other.reloadLinks() }
    let again = try #require(reopened().member(member))
    #expect(again.register.links.access.owners == [ben.vault.person, carla.vault.person])

    try sync(carla, ben, carla, ben)
    #expect(try carla.titles == ["Misled", "Visit"])
    #expect(try ben.titles == ["Misled", "Visit"])
    try carla.write("After")
    try sync(carla, ben, puppet)
    for adult in [puppet, puppet] { try adult.sync(thiefs, as: "thiefs") }
    #expect(try ben.titles == ["After", "Misled", "Visit"])
    #expect(
      try puppet.emma.map { _ in try puppet.titles } ?? ["Misled", "Visit"] == ["Misled", "Visit"])
    // What the thief signs next to it moves nobody who has settled it.
    try handOverToThePuppet(isTaken: true, in: usb)
    try sync(carla, ben)
    #expect(try access.owners == [ben.vault.person, carla.vault.person])
  }

  @Test func whatIsNoEndOfAPlaceSettlesNothing() throws {
    try handOverToThePuppet(isTaken: true, in: usb)
    try sync(carla)
    let member = try #require(carla.emma).id
    #expect(throws: VaultError.self) { try carla.vault.settle(member, on: before[0]) }
    #expect(try access.contested == [place])
    #expect(try carla.vault.placesToSettle().map(\.place.isRemembered) == [false])
    #expect(carla.vault.contestedPlaces.map(\.place.place) == [try place])
    try carla.vault.settle(member, on: truth)
    #expect(try access.contested == [])
    #expect(carla.vault.contestedPlaces.isEmpty)
    #expect(try access.owners == [ben.vault.person, carla.vault.person])
    #expect(try carla.vault.placesToSettle().map(\.place.isRemembered) == [true])
  }
}
