import Testing
import VaultModel
import VaultTrust

/// What the first draft of the design lost on paper, each under its own name.
@Suite struct LostOnPaperTests {
  /// Someone who was taken out dates a gift back, and the one who got it carries on innocently.
  @Test func laundersNoGiftThatIsDatedBack() {
    var family = Family()
    let (emma, anna, ben) = (family.emma, family.anna, family.ben)
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.benIn], [.take(ben)])
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.benIn],
      [.give(dora.person, .owner)])
    let carried = family.world.link(
      emma, by: dora, as: Place(link: gift, person: dora.person.id), follows: [gift, taking],
      [.give(ben, .owner)])
    let trust = family.world.trust()
    #expect(trust.link(gift, in: emma) == .taken(by: taking))
    #expect(trust.link(carried, in: emma) == .noPlace)
    #expect(trust.role(ben, in: emma) == nil)
    #expect(trust.role(dora.person, in: emma) == nil)
    #expect(trust.role(anna, in: emma) == .owner)
  }

  /// A link of a removed phone does not come to count because the desk's link follows it.
  @Test func removedPhonesLinkStaysOutWhoeverFollowsIt() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let byPhone = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.benIn],
      [.give(dora.person, .editor)])
    _ = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaDesk])
    let byDesk = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [byPhone],
      [.give(family.ben, .viewer)])
    let trust = family.world.trust()
    #expect(trust.link(byPhone, in: emma) == .departed)
    #expect(trust.link(byDesk, in: emma) == .counts)
    #expect(trust.role(dora.person, in: emma) == nil)
  }

  /// A removal holds though the link that it follows fell.
  @Test func removalOutlivesTheLinkItHangsOn() {
    var family = Family()
    let emma = family.emma
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.ben)])
    let falls = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      [.give(family.anna, .viewer)])
    let removal = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [falls], [.take(family.carl)])
    let trust = family.world.trust()
    #expect(trust.link(falls, in: emma) == .taken(by: taking))
    #expect(trust.link(removal, in: emma) == .counts)
    #expect(trust.role(family.carl, in: emma) == nil)
  }

  /// Who handed their place over writes from before that: it changes nothing.
  @Test func formerSeniorWritesNothingFromBeforeTheHandOver() {
    var family = Family()
    let emma = family.emma
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk,
      follows: [family.carlIn])
    let dora = family.newcomer("Dora")
    let back = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .owner), .take(family.ben), .take(family.carl)])
    let trust = family.world.trust()
    #expect(trust.link(handOver, in: emma) == .counts)
    #expect(trust.link(back, in: emma) == .givenUp(by: handOver))
    #expect(trust.access(to: emma)?.owners.first == family.carl.id)
    #expect(trust.role(family.ben, in: emma) == .owner)
    #expect(trust.role(family.anna, in: emma) == .editor)
    #expect(trust.role(dora.person, in: emma) == nil)
  }

  /// Two owners begin an epoch at once: both serve, one is current, and nobody begins a third.
  @Test func twoEpochsAtOnceNeedNoThird() throws {
    var family = Family()
    let emma = family.emma
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.carl)])
    let epochs = [
      (family.annaDesk, family.annasPlace), (family.benDesk, family.bensPlace),
    ].map { device, place in
      family.world.link(
        emma, by: device, as: place, follows: [taking], [], epoch: true,
        wraps: [family.wrap(family.anna), family.wrap(family.ben)])
    }
    let trust = family.world.trust()
    #expect(epochs.allSatisfy { trust.epochs[emma]?.states[$0] == .serves })
    #expect(trust.epochs[emma]?.states[family.start] == .exposed([family.carl.id]))
    #expect(trust.epochs[emma]?.current == epochs.min())
    let other = epochs.max() ?? .zero
    let late = family.world.head(emma, by: family.benDesk, epoch: other, follows: epochs)
    try #expect(trust.verdict(onHead: late) == .late(other))
  }

  /// A store that withholds a removal: the closing stays missed, and counts again when put back.
  @Test func withheldRemovalIsMissed() {
    var family = Family()
    let closing = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaDesk])
    let before = family.world.trust()
    #expect(before.device(family.annaPhone.certificate) == .former)
    let hidden = family.world.trust(memory: before.memory, without: [closing])
    #expect(hidden.missing == [closing])
    let again = family.world.trust(memory: hidden.memory)
    #expect(again.missing.isEmpty)
    #expect(again.device(family.annaPhone.certificate) == .former)
  }

  /// What a departing device did in a member that the closing machine never saw can be added later.
  @Test func laterClosingAddsAMemberThatTheFirstNeverSaw() {
    var family = Family()
    let unseen = family.world.member(by: family.annaPhone)
    let first = family.openings[family.anna] ?? .zero
    let closing = family.world.closing(of: family.anna, follows: [first], stay: [family.annaDesk])
    #expect(family.world.trust().access(to: unseen) == nil)
    let adding = family.world.closing(
      of: family.anna, follows: [closing], stay: [family.annaDesk], counted: [unseen.root])
    #expect(family.world.trust().access(to: unseen)?.owners == [family.anna.id])
    // Nothing that comes after takes it away.
    _ = family.world.closing(of: family.anna, follows: [adding], stay: [family.annaDesk])
    #expect(family.world.trust().access(to: unseen)?.owners == [family.anna.id])
  }

  /// Two machines that had not met remove a device each: both removals hold, until words join them.
  @Test func twoClosingsAtOnceBothHold() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let tablet = family.world.device("tablet", of: family.anna, in: first)
    let one = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk, tablet])
    let other = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk, family.annaPhone])
    let added = family.world.device("watch", of: family.anna, in: one)
    let apart = family.world.trust()
    #expect(apart.device(family.annaDesk.certificate) == .counts)
    #expect(apart.device(tablet.certificate) == .former)
    #expect(apart.device(family.annaPhone.certificate) == .former)
    #expect(apart.device(added.certificate) == .waiting)
    #expect(apart.people[family.anna.id]?.openGeneration == nil)
    let joined = family.world.closing(
      of: family.anna, follows: [one, other], stay: [family.annaDesk, added])
    let together = family.world.trust()
    #expect(together.people[family.anna.id]?.openGeneration == joined)
    #expect(together.device(added.certificate) == .counts)
  }

  /// A device that was added on one machine, and that keys have been changed for since, is left out by nobody where another
  /// machine has changed keys without having met it.
  @Test func closingBesideADeviceDoesNotLeaveItOut() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let (desk, phone) = (family.annaDesk, family.annaPhone)
    let one = family.world.closing(of: family.anna, follows: [first], stay: [desk, phone])
    let tablet = family.world.device("tablet", of: family.anna, in: one)
    let watch = family.world.device("watch", of: family.anna, in: one, approvedBy: desk)
    let next = family.world.closing(
      of: family.anna, follows: [one], stay: [desk, phone, tablet], time: 2)
    let other = family.world.closing(of: family.anna, follows: [first], stay: [desk])
    let apart = family.world.trust()
    #expect(apart.device(desk.certificate) == .counts)
    #expect(apart.device(tablet.certificate) == .waiting)
    // Each was left out by one of the two, after they had been certified.
    #expect(apart.device(phone.certificate) == .former)
    #expect(apart.device(watch.certificate) == .former)
    _ = family.world.closing(of: family.anna, follows: [next, other], stay: [desk, tablet])
    #expect(family.world.trust().device(tablet.certificate) == .counts)
  }

  /// Old words go on from where they were replaced, and make a longer line than the new ones.
  @Test func oldWordsGainNothingByALongerLine() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let new = TestKey("Anna's new words")
    let replaced = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk], by: new,
      replacing: [family.anna.words])
    let seen = family.world.trust().memory
    var tip = first
    for time in 2..<20 {
      tip = family.world.closing(
        of: family.anna, follows: [tip], stay: [family.annaPhone], time: UInt64(time))
    }
    // Beside the replacement they are shadowed, for who comes fresh too.
    for memory in [TrustMemory.empty, seen] {
      let trust = family.world.trust(memory: memory)
      #expect(trust.people[family.anna.id]?.tips == [replaced])
      #expect(trust.people[family.anna.id]?.shadowed.contains(tip) == true)
      #expect(trust.device(family.annaPhone.certificate) == .former)
      #expect(trust.device(family.annaDesk.certificate) == .counts)
    }
    // They name words of their own: who has seen the others keeps to those.
    let thief = TestKey("a thief's words")
    _ = family.world.closing(
      of: family.anna, follows: [tip], stay: [family.annaPhone], by: thief,
      replacing: [family.anna.words])
    #expect(family.world.trust(memory: seen).people[family.anna.id]?.tips == [replaced])
    let fresh = family.world.trust()
    #expect(fresh.people[family.anna.id]?.isContested == true)
    #expect(fresh.people[family.anna.id]?.openGeneration == nil)
    #expect(fresh.memory.closings.isDisjoint(with: [tip, replaced]))
  }

  /// A device that stays, and was away when the words closed, wrote meanwhile: that counts.
  @Test func deviceThatStaysAndWasAwayCounts() {
    var family = Family()
    let emma = family.emma
    let first = family.openings[family.anna] ?? .zero
    _ = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaPhone],
      counted: [
        emma.root,
        family.start, family.benIn,
      ])
    let away = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.benIn],
      [.give(family.carl, .viewer)])
    let trust = family.world.trust()
    #expect(trust.link(away, in: emma) == .counts)
    #expect(trust.link(family.benIn, in: emma) == .counts)
    #expect(trust.device(family.annaDesk.certificate) == .former)
  }

  /// Without any words of Anna's somebody writes a closing under her name, and certifies by it devices of their own, and one that
  /// she has removed, which once agreed to be hers. None is hers: neither do they wait, nor are they former.
  @Test func otherWordsMakeNoDevices() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let tip = family.world.closing(of: family.anna, follows: [first], stay: [family.annaDesk])
    let words = TestKey("made up words")
    let madeUp = family.world.closing(of: family.anna, follows: [tip], by: words)
    let desk = family.world.device("made up desk", of: family.anna, in: madeUp, words: words)
    let devices = [
      desk,
      family.world.device("approved one", of: family.anna, in: tip, approvedBy: desk),
      family.world.device("phone", of: family.anna, in: madeUp, words: words),
    ]
    let trust = family.world.trust()
    #expect(devices[2].id == family.annaPhone.id)
    for device in devices {
      #expect(trust.statements.certificates[device.certificate] != nil)
      #expect(trust.device(device.certificate) == .unknown)
    }
    #expect(trust.device(family.annaPhone.certificate) == .former)
    #expect(trust.device(family.annaDesk.certificate) == .counts)
  }

  /// What a closing follows may come after it, also where the words were replaced meanwhile: a device that it certifies waits.
  @Test func deviceWaitsForWhatItsClosingFollows() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let next = family.world.closing(of: family.anna, follows: [first], stay: [family.annaDesk])
    let words = TestKey("new words")
    let replaced = family.world.closing(
      of: family.anna, follows: [next], stay: [family.annaDesk], by: words,
      replacing: [family.anna.words])
    let last = family.world.closing(
      of: family.anna, follows: [replaced], stay: [family.annaDesk], by: words)
    let tablet = family.world.device("tablet", of: family.anna, in: last, words: words)
    #expect(family.world.trust().device(tablet.certificate) == .counts)
    let all: [Set<StatementID>] = [[first], [next], [first, next]]
    for missing in all {
      #expect(family.world.trust(without: missing).device(tablet.certificate) == .waiting)
    }
  }

  /// Encrypting anew changes names and keys; what was signed before goes on being judged the same.
  @Test func signaturesOutliveReencryption() throws {
    var family = Family()
    let emma = family.emma
    let head = family.world.head(
      emma, by: family.carlDesk, epoch: family.start, follows: [family.carlIn])
    try #expect(family.world.trust().verdict(onHead: head) == .counts)
    let anew = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn], [], epoch: true,
      wraps: [family.anna, family.ben, family.carl].map { family.wrap($0) })
    let trust = family.world.trust()
    #expect(trust.epochs[emma]?.current == anew)
    try #expect(trust.verdict(onHead: head) == .late(family.start))
  }

  /// A copier brings a head before its link, or its certificate: it waits, and is not refused.
  @Test func headThatComesFirstWaits() throws {
    let family = Family()
    let emma = family.emma
    let head = family.world.head(
      emma, by: family.carlPhone, epoch: family.start, follows: [family.carlIn])
    try #expect(family.world.trust().verdict(onHead: head) == .counts)
    for missing in [family.carlIn, family.benIn, family.start, family.carlPhone.certificate] {
      let verdict = try family.world.trust(without: [missing]).verdict(onHead: head)
      guard case .waiting = verdict else {
        Issue.record("\(verdict) without \(missing)")
        continue
      }
    }
    let early = family.world.trust(without: [family.carlDesk.certificate])
    try #expect(early.verdict(onHead: head) == .waiting(for: family.carlPhone.certificate))
  }

  /// No judgement goes by a date, so one in the year 9998 changes nothing; one in 10000 is refused.
  @Test func dateInTheYear9998ChangesNothing() throws {
    var family = Family()
    let emma = family.emma
    let year9998: UInt64 = 253_370_764_800_000
    let gift = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.benIn],
      [.give(family.carl, .owner)], time: year9998)
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift],
      [.take(family.ben), .take(family.carl)], time: 1)
    let trust = family.world.trust()
    #expect(trust.link(gift, in: emma) == .counts)
    #expect(trust.link(taking, in: emma) == .counts)
    #expect(trust.role(family.carl, in: emma) == nil)
    let beyond = Link(
      member: emma, person: family.ben.id, certificate: family.benDesk.certificate,
      place: family.bensPlace, time: 253_402_300_800_000)
    #expect(throws: ModelError.self) { try Link(decoding: beyond.encoded()) }
  }
}
