import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// A place among owners: offered by one, agreed to by the other, handed over by the first. Docs/Format.md, section 16.
@Suite struct HandOverTests {
  private func roles(_ adult: Adults.Adult) throws -> [PersonID: Role] {
    Dictionary(
      uniqueKeysWithValues: try #require(adult.emma).accesses().map { ($0.person, $0.role) })
  }

  private func owners(_ adult: Adults.Adult) throws -> [PersonID] {
    try #require(adult.emma).accesses().filter { $0.place != nil }.map(\.person)
  }

  private func offer(from giver: Adults.Adult, to taker: Adults.Adult) throws {
    try giver.vault.offerPlace(in: #require(giver.emma), to: taker.id)
  }

  private func agree(_ taker: Adults.Adult) throws {
    let offer = try #require(taker.vault.offeredPlaces().first { $0.taker == taker.id })
    try taker.vault.agree(to: offer)
  }

  @Test func thePlaceIsTheTakersOnceBothHaveSaidSo() throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: carla, .owner)
    try adults.share(with: ben, .viewer)
    try offer(from: anna, to: ben)
    try adults.meet()
    // Nothing has changed for anyone, and Ben is told once.
    #expect(try owners(carla) == [anna.id, carla.id])
    #expect(try ben.vault.untoldOffers().map(\.giver) == [anna.id])
    #expect(try ben.vault.untoldOffers().isEmpty)
    try ben.reopen()
    #expect(try ben.vault.untoldOffers().isEmpty)
    #expect(try ben.vault.offeredPlaces().map(\.isAgreed) == [false])
    #expect(try carla.vault.offeredPlaces().isEmpty)
    #expect(try anna.vault.tendHandOvers().get().isEmpty)
    try agree(ben)
    #expect(try roles(ben)[ben.id] == .viewer)
    try adults.meet()
    for adult in adults.everyone { #expect(try owners(adult) == [anna.id, carla.id]) }
    #expect(try ben.vault.tendHandOvers().get().isEmpty)
    #expect(try anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    #expect(anna.emma?.role == .editor)
    try anna.write("Still writing")
    try adults.meet()
    for adult in adults.everyone {
      try adult.reopen()
      #expect(try owners(adult) == [ben.id, carla.id])
      #expect(try roles(adult) == [anna.id: .editor, ben.id: .owner, carla.id: .owner])
      #expect(try adult.titles == ["Still writing"])
      #expect(
        try adult.vault.tendHandOvers().get().isEmpty && adult.vault.tendEpochs().get().isEmpty)
      #expect(try adult.vault.offeredPlaces().isEmpty)
    }
    // Carla, who came after Anna, cannot take out Ben; he can take out her and Anna.
    #expect(throws: VaultError.self) {
      try carla.vault.beginEpoch(of: #require(carla.emma), without: [ben.id])
    }
    #expect(throws: VaultError.self) {
      try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    }
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [carla.id, anna.id])
    try adults.meet()
    #expect(try roles(ben) == [ben.id: .owner])
    #expect(anna.emma?.role == nil && carla.emma?.role == nil)
  }

  /// What was written on a device that was away goes on counting: its writer stays an editor.
  @Test func whatTheGiverWroteBeforeGoesOnCounting() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try offer(from: adults.anna, to: adults.ben)
    try adults.meet()
    try adults.anna.write("Before")
    try agree(adults.ben)
    try adults.carry(from: adults.ben, to: adults.anna)
    #expect(try adults.anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.meet()
    try adults.ben.reopen()
    #expect(try adults.ben.titles == ["Before"])
  }

  @Test func anOfferIsTakenBack() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try offer(from: adults.anna, to: adults.ben)
    try adults.meet()
    let seen = try #require(adults.ben.vault.offeredPlaces().first)
    try adults.anna.vault.withdrawOffer(in: #require(adults.anna.emma))
    #expect(throws: VaultError.self) {
      try adults.anna.vault.withdrawOffer(in: #require(adults.anna.emma))
    }
    // Ben agrees before he learns of it.
    try adults.ben.vault.agree(to: seen)
    try adults.meet()
    for adult in adults.everyone { #expect(try adult.vault.tendHandOvers().get().isEmpty) }
    #expect(try owners(adults.ben) == [adults.anna.id])
    #expect(try adults.ben.vault.offeredPlaces().isEmpty)
    #expect(throws: VaultError.self) { try adults.ben.vault.agree(to: seen) }
    // What he agreed to then is no yes to what she offers later.
    try offer(from: adults.anna, to: adults.ben)
    try adults.meet()
    #expect(try adults.ben.vault.offeredPlaces().map(\.isAgreed) == [false])
    #expect(try adults.ben.vault.untoldOffers().count == 1)
    for adult in adults.everyone { #expect(try adult.vault.tendHandOvers().get().isEmpty) }
  }

  /// What the giver does meanwhile is not undone by the hand over: the offer is made anew, and the yes with it.
  @Test func whatTheGiverDoesMeanwhileStays() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try offer(from: adults.anna, to: adults.ben)
    try adults.meet()
    try adults.anna.vault.share(#require(adults.anna.emma), with: adults.carla.id, role: .viewer)
    try agree(adults.ben)
    try adults.meet()
    #expect(try adults.anna.vault.tendHandOvers().get().map(\.kind) == [.offeredAnew])
    try adults.meet()
    #expect(try adults.ben.vault.untoldOffers().isEmpty)
    #expect(try adults.ben.vault.tendHandOvers().get().map(\.kind) == [.agreedAgain])
    try adults.meet()
    #expect(try adults.anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.meet()
    #expect(
      try roles(adults.carla)
        == [adults.anna.id: .editor, adults.ben.id: .owner, adults.carla.id: .viewer])
  }

  @Test func whoIsTakenOutBetweenIsHandedNothing() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try offer(from: adults.anna, to: adults.ben)
    try adults.meet()
    try agree(adults.ben)
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.ben.id])
    try adults.meet()
    #expect(try adults.anna.vault.tendHandOvers().get().isEmpty)
    #expect(try adults.anna.vault.offeredPlaces().isEmpty)
    // Nor when he is let in again.
    try adults.share(with: adults.ben, .viewer)
    for adult in adults.everyone { #expect(try adult.vault.tendHandOvers().get().isEmpty) }
    #expect(try owners(adults.ben) == [adults.anna.id])
    #expect(try adults.ben.vault.offeredPlaces().isEmpty)
  }

  @Test func whoHasNoAccessOrNoPlaceIsRefused() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    do {
      try offer(from: adults.anna, to: adults.carla)
      Issue.record("offered to someone who does not see it")
    } catch let error as VaultError {
      guard case .notFound = error else { throw error }
    }
    do {
      try offer(from: adults.ben, to: adults.anna)
      Issue.record("an editor offered a place")
    } catch let error as VaultError {
      guard case .ownersOnly = error else { throw error }
    }
  }

  /// An editor signs an offer in the owner's name, and one in their own: nobody is told, nothing can be agreed to.
  @Test func aForgedOfferIsNone() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.share(with: adults.carla, .editor)
    let emma = try #require(adults.ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: adults.anna.id).first)
    for person in [adults.anna.id, adults.ben.id] {
      var link = try adults.ben.vault.link(of: emma, as: seat, [.offer(adults.carla.id)])
      link.person = person
      try adults.ben.vault.forge(link, into: adults.ben.store)
    }
    try adults.meet()
    #expect(try adults.carla.vault.offeredPlaces().isEmpty)
    #expect(try owners(adults.carla) == [adults.anna.id])
  }

  /// Whoever has let somebody in offers them as many places as they care to make.
  @Test func veryManyOffersEndNoProgram() throws {
    let adults = try Adults()
    let (vault, carlas) = (adults.anna.vault, StatementID.random())
    let offers = (0..<100_000).map { _ in StatementID.random() }
    let remembered = Vault.remembered([adults.ben.id: offers, adults.carla.id: [carlas]])
    #expect(remembered.count == Vault.toldOffersLimit && remembered.contains(carlas))
    #expect(remembered == Vault.remembered([adults.ben.id: offers, adults.carla.id: [carlas]]))
    try vault.keepTold(remembered)
    #expect(try vault.toldOffers() == remembered)
  }

  /// The giver's machine is put back to before the taker agreed, and hands over once more: it is one hand over.
  @Test func aMachinePutBackHandsOverTheSame() throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .editor)
    try offer(from: anna, to: ben)
    try adults.meet()
    let before = (anna.store.imageAfterKill(), anna.stateStore.imageAfterKill())
    try agree(ben)
    try adults.meet()
    #expect(try anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.carry(from: anna, to: ben)
    (anna.store, anna.stateStore) = before
    try anna.reopen()
    // Ben's yes alone comes over, by a carrier that knows nothing of the rest.
    let emma = try #require(anna.emma)
    for (path, bytes) in ben.store.blobs where path.string.contains("/links/") {
      let link = try Link(decoding: SignedFile(decoding: bytes).body)
      if link.isAgreement { try anna.store.replace(path, bytes, durably: true) }
    }
    _ = try emma.refresh()
    #expect(try anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.meet()
    for adult in adults.everyone.prefix(2) {
      try adult.reopen()
      #expect(try owners(adult) == [ben.id])
      let history = try #require(adult.emma).register.links.history
      #expect(history.access.contested.isEmpty)
    }
  }

  @Test func handingOverIsWholeOrCanBeDoneAgainWhereverItIsCut() throws {
    func agreed() throws -> Adults {
      let adults = try Adults()
      try adults.share(with: adults.ben, .viewer)
      try offer(from: adults.anna, to: adults.ben)
      try adults.meet()
      try agree(adults.ben)
      try adults.meet()
      return adults
    }
    let whole = try agreed()
    let calls = whole.anna.store.mutatingCallCount
    _ = try whole.anna.vault.tendHandOvers().get()
    let count = whole.anna.store.mutatingCallCount - calls
    try #require(count > 1)
    for call in 1...count {
      let adults = try agreed()
      adults.anna.store.cut(after: call)
      #expect(throws: VaultError.self) { try adults.anna.vault.tendHandOvers().get() }
      try adults.anna.reopen()
      _ = try adults.anna.vault.tendHandOvers().get()
      try adults.meet()
      #expect(try roles(adults.ben) == [adults.anna.id: .editor, adults.ben.id: .owner])
    }
  }

  @Test func handingOverWhileAnotherOwnerTakesTheNewOneOut() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .viewer)
    try offer(from: adults.anna, to: adults.carla)
    try adults.meet()
    try agree(adults.carla)
    try adults.carry(from: adults.carla, to: adults.anna)
    // Ben, who came after Anna, takes Carla out beside it: he does so as the less senior one, and she stays.
    #expect(try adults.anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.ben.vault.beginEpoch(of: #require(adults.ben.emma), without: [adults.carla.id])
    for _ in 0..<2 {
      try adults.meet()
      for adult in adults.everyone { _ = try adult.vault.tendEpochs().get() }
    }
    try adults.meet()
    #expect(adults.carla.emma?.role == .owner)
    #expect(try owners(adults.carla) == [adults.carla.id, adults.ben.id])
    #expect(try owners(adults.ben) == [adults.carla.id, adults.ben.id])
  }

  /// Two owners have new keys, neither of whom knew of the other's: under the epoch in use nothing is written any more, and
  /// the giver is no owner by then, who could begin another one.
  @Test func isToldAndAnnouncedUnderASpentEpoch() throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: ben, .owner)
    try adults.share(with: carla, .viewer)
    try changeKeys(of: anna)
    try offer(from: anna, to: carla)
    try adults.carry(from: anna, to: carla)
    try agree(carla)
    try adults.carry(from: carla, to: anna)
    try changeKeys(of: ben)
    try adults.carry(from: ben, to: anna)
    try #require(anna.emma?.isEpochSpent == true)
    func registers() -> [BlobPath: [UInt8]] {
      anna.store.blobs.filter { $0.key.string.hasPrefix("people/\(anna.id.hex)/") }
    }
    let before = registers()
    #expect(try anna.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    #expect(registers() != before)
    try adults.meet()
    for adult in adults.everyone { #expect(try owners(adult) == [carla.id, ben.id]) }
  }

  private func changeKeys(of adult: Adults.Adult) throws {
    let words = try RecoveryWords(parsing: adult.words.joined(separator: " "))
    try adult.vault.beginGeneration(removing: [], words: words)
    try adult.vault.beginEpoch(of: #require(adult.emma), without: [])
  }

  @Test func whoHasHandedOverCanLeave() throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .editor)
    try anna.write("Anna's")
    try adults.meet()
    try handOver(adults, from: anna, to: ben)
    try anna.vault.leave(#require(anna.emma))
    try adults.meet()
    _ = try ben.vault.tendEpochs().get()
    #expect(try roles(ben) == [ben.id: .owner])
    #expect(try ben.titles == ["Anna's"])
  }

  @Test func whoGetsItBackGoesOnFromWhatTheOthersHave() throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .editor)
    try anna.write("Anna's")
    try ben.write("Ben's")
    try adults.meet()
    try handOver(adults, from: anna, to: ben)
    // With new keys in between, under which her head of before is late.
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [])
    try adults.meet()
    try handOver(adults, from: ben, to: anna)
    for adult in [anna, ben] {
      try adult.reopen()
      #expect(try adult.titles == ["Anna's", "Ben's"])
    }
    try anna.write("After")
    try adults.meet()
    #expect(try ben.titles == ["Anna's", "Ben's", "After"])
    #expect(try roles(ben) == [anna.id: .owner, ben.id: .editor])
    for adult in [anna, ben] {
      let problems = try adult.vault.check(readsData: true).problems
      #expect(problems.filter { $0.severity > .note } == [])
    }
  }

  private func handOver(
    _ adults: Adults, from giver: Adults.Adult, to taker: Adults.Adult
  ) throws {
    try offer(from: giver, to: taker)
    try adults.meet()
    try agree(taker)
    try adults.meet()
    #expect(try giver.vault.tendHandOvers().get().map(\.kind) == [.handedOver])
    try adults.meet()
  }
}
