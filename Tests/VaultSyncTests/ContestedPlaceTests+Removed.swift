import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// The device that has given a place up twice, or a copy of it, is removed by its person.
extension ContestedPlaceTests {
  /// Another device of Anna's, which meets both ends at once.
  private func annasLaptop() throws -> SyncingAdult {
    try newMachine(of: anna, words: Family.words.words)
  }

  private func newMachine(
    of adult: SyncingAdult, words: borrowing RecoveryWords
  ) throws -> SyncingAdult {
    let store = adult.store.imageAfterKill()
    for (path, bytes) in usb.blobs where path.string.contains("/links/") {
      try store.replace(path, bytes, durably: true)
    }
    let laptop = try SyncingAdult(recovering: adult.vault.id, in: store, words: words)
    try laptop.sync(usb)
    return laptop
  }

  private func owners(at adult: SyncingAdult) throws -> [PersonID] {
    try #require(adult.emma).register.links.access.owners
  }

  private var trueOwners: [PersonID] { [ben.vault.person, carla.vault.person] }

  /// Which of the ends counts on her new machine hangs on their ids, and says nothing.
  @Test(arguments: [true, false])
  func removingTheDeviceDecidesNothing(isTaken: Bool) throws {
    try handOverToThePuppet(isTaken: isTaken, in: usb)
    let laptop = try annasLaptop()
    #expect(laptop.vault.contestedPlaces.map(\.place.place) == [try place])
    let lost: Set = [anna.vault.device]
    #expect(
      try laptop.vault.placesToSettle(before: Leaving(lost)).map(\.place.place) == [try place])
    try laptop.vault.beginGeneration(removing: lost, words: Family.words.words)
    try laptop.sync(usb)
    try sync(ben, carla)
    #expect(try owners(at: ben) == trueOwners)
    // Carla has seen neither before.
    #expect(try access.contested == [place])
    try carla.vault.settle(#require(carla.emma).id, on: truth)
    #expect(try owners(at: carla) == trueOwners)
  }

  /// Ben removes the device with which he agreed, and let Dora in, on a new machine of his, which goes by the other end.
  @Test func norDoesRemovingTheDeviceThatTookThePlace() throws {
    try handOverToThePuppet(isTaken: true, in: usb)
    let lost: Set = [ben.vault.device]
    let laptop = try newMachine(
      of: ben, words: RecoveryWords(parsing: ben.words.joined(separator: " ")))
    #expect(
      try laptop.vault.placesToSettle(before: Leaving(lost)).map(\.place.place) == [place])
    try laptop.vault.beginGeneration(
      removing: lost, words: RecoveryWords(parsing: ben.words.joined(separator: " ")))
    try laptop.sync(usb)
    try sync(carla)
    try carla.vault.settle(#require(anna.emma).id, on: truth)
    #expect(try owners(at: carla) == trueOwners)
    #expect(try access.includes(dora.vault.person))
  }

  /// Ben has handed the place on to Dora, who removes the device with which she agreed.
  @Test func norDoesRemovingTheOneOfWhoeverHasItNow() throws {
    try sync(ben, dora)
    try ben.vault.offerPlace(in: #require(ben.emma), to: dora.vault.person)
    try sync(ben, dora)
    try dora.vault.agree(to: #require(dora.vault.offeredPlaces().first))
    try sync(dora, ben, dora)
    let now = [dora.vault.person, carla.vault.person]
    try #require(owners(at: dora) == now)
    try handOverToThePuppet(isTaken: true, in: usb)
    let words = { try RecoveryWords(parsing: dora.words.joined(separator: " ")) }
    let laptop = try newMachine(of: dora, words: words())
    let lost: Set = [dora.vault.device]
    #expect(
      try laptop.vault.placesToSettle(before: Leaving(lost)).map(\.place.place) == [place])
    try laptop.vault.beginGeneration(removing: lost, words: words())
    try laptop.sync(usb)
    try sync(carla)
    try carla.vault.settle(#require(anna.emma).id, on: truth)
    #expect(try owners(at: carla) == now)
  }

  /// Carla goes by the forged end: what Ben wrote after the true one does not come to her before she has said so.
  @Test func whatLastsIsWhatCountsByEitherEndUntilSomebodyDecides() throws {
    let forged = try misleadCarla()
    try sync(ben, carla)
    let member = try #require(ben.emma).id
    let bens = ben.vault.person
    let certificates = ben.vault.context.people.trust.statements.certificates
    let signing = Set(certificates.filter { $0.value.person == bens }.keys)
    func history(at adult: SyncingAdult) throws -> MemberHistory {
      try adult.vault.context.opening(of: member).loadLinks().history
    }
    let counting = try history(at: ben).signed(by: signing)
    #expect(try history(at: ben).lasting(signedBy: signing) == counting)
    #expect(try history(at: carla).signed(by: signing).isEmpty)
    let agreement = try history(at: carla).lasting(signedBy: signing)
    #expect(agreement.count == 1 && counting.isStrictSuperset(of: agreement))
    try carla.vault.settle(member, on: forged)
    #expect(try history(at: carla).lasting(signedBy: signing).isEmpty)
  }

  @Test func onceAnnaHasSaidWhichIsTrueTheOtherOneEndsWithTheDevice() throws {
    _ = try misleadCarla()
    try sync(carla)
    #expect(try owners(at: carla) == [puppet.vault.person, carla.vault.person])
    let laptop = try annasLaptop()
    let lost: Set = [anna.vault.device]
    try laptop.vault.settle(#require(carla.emma).id, on: truth)
    #expect(try laptop.vault.placesToSettle(before: Leaving(lost)).isEmpty)
    try laptop.vault.beginGeneration(removing: lost, words: Family.words.words)
    try laptop.sync(usb)
    // Nobody else has to say anything.
    try sync(ben, carla, ben, carla)
    for adult in [ben, carla] {
      #expect(try owners(at: adult) == trueOwners)
      #expect(try adult.titles == ["Misled", "Visit"])
      #expect(adult.vault.contestedPlaces.isEmpty)
    }
  }

  /// Somebody has her laptop. A copy of the machine that she sits at could have signed as that: so she is asked about its own end, too.
  @Test func whatThisMachineHasDoneItselfIsAskedAboutAsWell() throws {
    let laptop = try annasLaptop()
    for adult in [laptop, anna, laptop] { try adult.sync(usb) }
    let member = try #require(anna.emma).id
    func sign(by adult: SyncingAdult, _ follows: [StatementID], _ change: Change) throws
      -> StatementID
    {
      let isAgreement = if case .agree = change { true } else { false }
      let link = try adult.signedLink(
        of: member, as: isAgreement ? nil : place, follows: follows, change)
      try usb.put(link.path, link.bytes)
      return link.id
    }
    let person = puppet.vault.person
    let offer = try sign(by: laptop, before, .offer(person))
    let agreement = try sign(by: puppet, [offer], .agree(person))
    let forged = try sign(by: laptop, [agreement], .handOver(person))
    // No device tells of what a thief has put there; the daily sync finds it.
    try anna.sync(usb, looksEverywhere: true)
    let places = try anna.vault.placesToSettle()
    #expect(places.flatMap(\.ends).map(\.link) == [truth, forged])
    let leaving = Leaving([laptop.vault.device])
    #expect(try anna.vault.placesToSettle(before: leaving).map(\.place.place) == [place])
    // Without all that it signed, nothing is left to say.
    #expect(try anna.vault.placesToSettle(before: Leaving(leaving.devices, since: 0)).isEmpty)
    try anna.vault.settle(member, on: truth)
    #expect(try anna.vault.placesToSettle(before: leaving).isEmpty)
    try anna.vault.beginGeneration(
      removing: [laptop.vault.device], words: Family.words.words)
    try anna.sync(usb)
    try sync(carla)
    #expect(try access.contested == [])
    #expect(try owners(at: carla) == trueOwners)
  }

  /// A leaving counts by itself, whether it ends a place or not.
  @Test func aLeavingThatSheHasRefusedEndsWithTheDevice() throws {
    let annas = anna.vault.person
    let leaving = try forge(
      by: anna, as: nil, follows: before, .limit(annas, nil, until: 0), into: usb)
    let laptop = try annasLaptop()
    let places = try laptop.vault.placesToSettle()
    #expect(Set(places.flatMap(\.ends).map(\.link)) == [truth, leaving])
    let member = try #require(anna.emma).id
    try laptop.vault.settle(member, on: truth)
    try laptop.vault.beginGeneration(
      removing: [anna.vault.device], words: Family.words.words)
    try laptop.sync(usb)
    try sync(carla)
    #expect(try access.contested == [])
    #expect(try owners(at: carla) == trueOwners)
    #expect(try access.includes(annas))
  }

  /// Carla has left twice, once by the hand of a thief, who follows something else.
  @Test func ofTwoLeavingsTheOneThatIsRefusedIsNotListed() throws {
    let carlas = carla.vault.person
    let leave = Change.limit(carlas, nil, until: 0)
    let first = try forge(by: carla, as: nil, follows: before, leave, into: usb)
    let second = try forge(by: carla, as: nil, follows: before, leave, into: usb) { $0 != first }
    let words = try RecoveryWords(parsing: carla.words.joined(separator: " "))
    let laptop = try newMachine(of: carla, words: words)
    let leaving = Leaving([carla.vault.device])
    let member = try #require(anna.emma).id
    #expect(try laptop.vault.placesToSettle(before: leaving).map(\.holder) == [carlas])
    let certificates = laptop.vault.certificates(of: leaving.devices)
    func lasting() throws -> Set<StatementID> {
      try laptop.vault.context.opening(of: member).loadLinks().history
        .lasting(signedBy: certificates)
    }
    #expect(try lasting().isSuperset(of: [first, second]))
    try laptop.vault.settle(member, on: first)
    #expect(try laptop.vault.placesToSettle(before: leaving).isEmpty)
    #expect(try lasting().contains(first) && !lasting().contains(second))
  }
}
