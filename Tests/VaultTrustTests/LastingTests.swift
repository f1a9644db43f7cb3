import Testing
import VaultModel
import VaultTrust

/// What lasts whatever its writer's words say later, and who is spoken of.
@Suite struct LastingTests {
  /// Section 10, 17: who was taken out does not take back what they gave while they were in.
  @Test func confirmedGiftOutlivesItsGiver() {
    var family = Family()
    let emma = family.emma
    let opening = family.openings[family.ben] ?? .zero
    var unconfirmed = family.world
    _ = unconfirmed.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.ben)])
    _ = unconfirmed.closing(of: family.ben, follows: [opening])
    #expect(unconfirmed.trust().role(family.carl, in: emma) == nil)
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.ben)], confirmed: [family.carlIn])
    _ = family.world.closing(of: family.ben, follows: [opening])
    let trust = family.world.trust()
    #expect(trust.link(family.carlIn, in: emma) == .counts)
    #expect(trust.role(family.carl, in: emma) == .owner)
    #expect(trust.role(family.ben, in: emma) == nil)
  }

  /// Nobody junior confirms what a senior's words leave out, nor does following it.
  @Test func juniorConfirmsNothing() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let theft = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .owner)])
    _ = family.world.link(
      emma, by: family.carlDesk, as: family.carlsPlace, follows: [theft], [], confirmed: [theft])
    _ = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaDesk])
    let trust = family.world.trust()
    #expect(trust.link(theft, in: emma) == .departed)
    #expect(trust.role(dora.person, in: emma) == nil)
  }

  /// Nor does one who is no senior keep the senior from it, by naming first what they would have confirmed.
  @Test func whatNoSeniorHasConfirmedIsToBe() throws {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      [.give(dora.person, .editor)])
    var last = gift
    for (device, place) in [
      (family.benDesk, family.bensPlace), (family.carlDesk, family.carlsPlace),
    ] {
      last = family.world.link(
        emma, by: device, as: place, follows: [last], [], confirmed: [family.carlIn, gift])
    }
    let before = try #require(family.world.trust().members[emma])
    let mine = before.unconfirmed(by: [family.ben.id], as: family.annasPlace)
    #expect(mine.contains(gift) && mine.contains(family.carlIn) && mine.count == 3)
    #expect(before.unconfirmed(by: [family.ben.id], as: family.carlsPlace) == [])
    #expect(before.unconfirmed(by: [family.anna.id], as: family.annasPlace) == [])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [last], [.take(family.ben)],
      confirmed: mine)
    _ = family.world.closing(of: family.ben, follows: [family.openings[family.ben] ?? .zero])
    let trust = family.world.trust()
    #expect(trust.role(dora.person, in: emma) == .editor)
    #expect(trust.role(family.carl, in: emma) == .owner)
    let after = try #require(trust.members[emma])
    #expect(after.unconfirmed(by: [family.ben.id], as: family.annasPlace) == [])
  }

  /// Nobody was given anything by a leaving: what its writer's words leave out ends nothing, whoever confirms it.
  @Test func confirmedLeavingEndsNothing() {
    var family = Family()
    let emma = family.emma
    let leaving = family.world.leave(emma, by: family.benPhone, follows: [family.carlIn])
    _ = family.world.closing(
      of: family.ben, follows: [family.openings[family.ben] ?? .zero], stay: [family.benDesk])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [leaving], [],
      confirmed: [leaving])
    let trust = family.world.trust()
    #expect(trust.link(leaving, in: emma) == .departed)
    #expect(trust.role(family.ben, in: emma) == .owner)
  }

  /// A hand over that the giver's words list, with all before it, is final.
  @Test func listedHandOverIsFinal() {
    var family = Family()
    let emma = family.emma
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.benDesk,
      follows: [family.carlIn])
    let listing = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero],
      stay: [family.annaDesk, family.annaPhone],
      counted: [emma.root, family.start, family.benIn] + family.world.steps(of: handOver))
    _ = family.world.closing(of: family.anna, follows: [listing])
    let trust = family.world.trust()
    #expect(trust.device(family.annaDesk.certificate) == .former)
    #expect(trust.access(to: emma)?.owners == [family.ben.id, family.ben.id, family.carl.id])
  }

  /// Whoever leaves, and from whenever they date it, ends their own access only.
  @Test func leavingEndsOnesOwnAccessOnly() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.carlDesk, as: family.carlsPlace, follows: [family.carlIn],
      [.give(dora.person, .editor)])
    let leaving = family.world.leave(emma, by: dora, follows: [gift], keeping: .viewer)
    #expect(family.world.trust().link(leaving, in: emma) == .counts)
    #expect(family.world.trust().role(dora.person, in: emma) == .viewer)
    let early = family.world.leave(emma, by: dora)
    #expect(family.world.trust().link(early, in: emma) == .noPlace)
    let again = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [leaving],
      [.give(dora.person, .editor)])
    let trust = family.world.trust()
    #expect(trust.link(again, in: emma) == .counts)
    #expect(trust.role(dora.person, in: emma) == .editor)
    #expect(trust.access(to: emma)?.owners == [family.anna, family.ben, family.carl].map(\.id))
  }

  /// Whoever can write to a folder makes people up, and devices in the name of anybody: what these sign takes no room for good
  /// from what somebody has signed who had access, and gives nobody keys to try.
  @Test func whatIsOfNobodyWhoHadAccessDoesNotLast() throws {
    var family = Family()
    let emma = family.emma
    let mallory = family.newcomer("Mallory")
    let opening = try #require(family.world.trust().people[mallory.person.id]?.openGeneration)
    let phone = family.world.device("phone", of: mallory.person, in: opening, approvedBy: mallory)
    _ = family.world.closing(of: mallory.person, follows: [opening], stay: [phone])
    let plain = family.world.link(
      emma, by: phone, as: family.annasPlace, follows: [family.carlIn])
    let wrap = family.wrap(family.ben)
    let former = family.world.link(
      emma, by: mallory, as: family.annasPlace, follows: [plain], epoch: true, wraps: [wrap])
    let words = mallory.person.words
    let claim = family.world.closing(of: family.anna, by: words)
    let forged = family.world.device("forged", of: family.anna, in: claim, words: words)
    let claimed = family.world.link(
      emma, by: forged, as: family.annasPlace, follows: [family.carlIn], epoch: true, wraps: [wrap])
    let bens = family.world.link(
      emma, by: family.benPhone, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: [wrap])
    _ = family.world.closing(
      of: family.ben, follows: [family.openings[family.ben] ?? .zero], stay: [family.benDesk])
    let history = try #require(family.world.trust().members[emma])
    #expect(history.verdict(on: plain) == .noPlace)
    for link in [former, claimed, bens] { #expect(history.verdict(on: link) == .departed) }
    #expect(history.lasting == history.counting.union([bens]))
    #expect(history.wraps(for: family.ben.id).map(\.epoch) == [family.start, bens])
  }

  /// Whom an owner let write was right to believe it, whatever becomes of the owner, and so was whom they let in themselves. Whom
  /// anybody else lets write was not, in the owner's name either.
  @Test func whoWasLetWriteByAnOwnerWasRightToBelieveIt() throws {
    var family = Family()
    let emma = family.emma
    let (dora, eve) = (family.newcomer("Dora"), family.newcomer("Eve"))
    let mallory = family.newcomer("Mallory")
    let gift = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      [.give(dora.person, .owner)])
    let further = family.world.link(
      emma, by: dora, as: Place(link: gift, person: dora.person.id), follows: [gift],
      [.give(eve.person, .editor)])
    // Ben goes on after it.
    _ = family.world.link(emma, by: family.benDesk, as: family.bensPlace, follows: [further])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.ben)])
    let words = mallory.person.words
    let claim = family.world.closing(of: family.anna, by: words)
    let forged = family.world.device("forged", of: family.anna, in: claim, words: words)
    for device in [forged, mallory] {
      _ = family.world.link(
        emma, by: device, as: family.annasPlace, follows: [family.carlIn],
        [.give(mallory.person, .editor)])
    }
    let history = try #require(family.world.trust().members[emma])
    #expect(history.verdict(on: further) == .noPlace)
    for person in [dora.person.id, eve.person.id] {
      #expect(history.couldBelieveToWrite(person) && !history.couldWrite(person))
    }
    #expect(!history.couldBelieveToWrite(mallory.person.id))
  }

  /// What was written before access was taken does not come back with access that is given later.
  @Test func headFollowsTheGiftThatCarriesIt() throws {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      [.give(dora.person, .editor)])
    let old = family.world.head(emma, by: dora, epoch: family.start, follows: [gift])
    try #expect(family.world.trust().verdict(onHead: old) == .counts)
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift], [.take(dora.person)])
    try #expect(family.world.trust().verdict(onHead: old) == .former)
    let again = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [taking],
      [.give(dora.person, .editor)])
    try #expect(family.world.trust().verdict(onHead: old) == .former)
    let new = family.world.head(emma, by: dora, epoch: family.start, follows: [again])
    try #expect(family.world.trust().verdict(onHead: new) == .counts)
    let stranger = family.newcomer("Mallory")
    let forged = family.world.head(emma, by: stranger, epoch: family.start, follows: [again])
    try #expect(family.world.trust().verdict(onHead: forged) == .stranger)
  }

  /// Strangers are cargo: spoken of is who is named in what counts.
  @Test func strangersAreNotSpokenOf() throws {
    var family = Family()
    let emma = family.emma
    let (dora, mallory) = (family.newcomer("Dora"), family.newcomer("Mallory"))
    _ = family.world.link(
      emma, by: mallory, as: family.annasPlace, [.give(mallory.person, .owner)])
    _ = family.world.leave(emma, by: mallory)
    let people: Set = [family.anna.id, family.ben.id, family.carl.id]
    #expect(try #require(family.world.trust().members[emma]).vouched == people)
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, [.give(dora.person, .viewer)])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift], [.take(dora.person)])
    // Also who was let out again.
    #expect(
      try #require(family.world.trust().members[emma]).vouched == people.union([dora.person.id]))
  }
}
