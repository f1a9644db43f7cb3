import Testing
import VaultModel
import VaultTrust

/// What the second attack on paper found: Docs/Trust.md, "Links, closings, epochs", in its numbers.
@Suite struct SecondAttackTests {
  /// 1: what is disowned stays out though an innocent link that counts follows it.
  @Test func disownedLinkStaysOutUnderAnInnocentOne() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let thefts = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .owner)])
    let innocent = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [thefts],
      [.give(family.ben, .viewer)])
    _ = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaDesk],
      counted: [innocent])
    let trust = family.world.trust()
    #expect(trust.link(innocent, in: emma) == .counts)
    #expect(trust.link(thefts, in: emma) == .departed)
    #expect(trust.role(dora.person, in: emma) == nil)
  }

  /// 1, 8: a device that agreed to a hand over and departs: the hand over stands if it is listed.
  @Test func handOverOutlivesTheDeviceThatAgreed() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let opening = family.world.trust().people[dora.person.id]?.openGeneration ?? .zero
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: dora, follows: [family.carlIn])
    #expect(family.world.trust().access(to: emma)?.owners.first == dora.person.id)
    var forgotten = family.world
    _ = forgotten.closing(of: dora.person, follows: [opening])
    #expect(forgotten.trust().access(to: emma)?.owners.first == family.anna.id)
    _ = family.world.closing(
      of: dora.person, follows: [opening], counted: family.world.steps(of: handOver))
    let trust = family.world.trust()
    #expect(trust.access(to: emma)?.owners.first == dora.person.id)
    #expect(trust.role(family.anna, in: emma) == .editor)
  }

  /// 2: who handed over and removes a device later takes nothing from those to whom it gave.
  @Test func removingADeviceAfterHandingOverTakesNothingAway() {
    var family = Family()
    let emma = family.emma
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk,
      follows: [family.carlIn])
    _ = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaPhone],
      counted: [emma.root, family.start, family.benIn] + family.world.steps(of: handOver))
    let trust = family.world.trust()
    #expect(trust.access(to: emma)?.owners == [family.carl.id, family.ben.id, family.carl.id])
  }

  /// 3: a device that is certified again brings nothing along from while it was out.
  @Test func deviceThatComesBackBringsNothingFromMeanwhile() {
    var family = Family()
    let emma = family.emma
    let closing = family.world.closing(
      of: family.anna, follows: [family.openings[family.anna] ?? .zero], stay: [family.annaDesk])
    let meanwhile = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.benIn],
      [.take(family.ben)])
    let again = family.world.device(
      "phone", of: family.anna, in: closing, approvedBy: family.annaDesk)
    #expect(again.id == family.annaPhone.id)
    // Nor does a later closing let the old certificate in again.
    _ = family.world.closing(
      of: family.anna, follows: [closing], stay: [family.annaDesk, family.annaPhone, again])
    let trust = family.world.trust()
    #expect(trust.device(again.certificate) == .counts)
    #expect(trust.device(family.annaPhone.certificate) == .former)
    #expect(trust.link(meanwhile, in: emma) == .departed)
    let now = family.world.link(
      emma, by: again, as: family.annasPlace, follows: [family.carlIn], [.take(family.carl)])
    #expect(family.world.trust().link(now, in: emma) == .counts)
  }

  /// 4: old words cannot make a closing of their own in which the new ones would have agreed.
  @Test func newWordsAreClaimedByNobodyElse() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let new = TestKey("Anna's new words")
    let replaced = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk], by: new,
      replacing: [family.anna.words])
    // The thief of the old words endorses the new key once more; but cannot sign with it.
    let endorsement = Closing.Endorsement(
      rootKey: family.anna.words.publicKey,
      signature: family.anna.words.sign(
        family.world.vault.signedMessage(
          .successor,
          Closing.endorsementBody(
            person: family.anna.id, from: family.anna.words.publicKey, to: new.publicKey))))
    let forged = Closing(
      person: family.anna.id, follows: [first], rootKey: new.publicKey,
      endorsements: [endorsement], stay: [family.annaPhone.certificate])
    _ = family.world.add(.closing, forged.encoded(), by: family.anna.words)
    let trust = family.world.trust()
    #expect(trust.statements.broken.values.contains(.signature))
    #expect(trust.people[family.anna.id]?.tips == [replaced])
    #expect(trust.device(family.annaPhone.certificate) == .former)
  }

  /// 5: a removal that was seen before the words were replaced goes on counting beside that.
  @Test func removalSeenBeforeTheReplacementHolds() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let removal = family.world.closing(of: family.anna, follows: [first], stay: [family.annaDesk])
    let memory = family.world.trust().memory
    let new = TestKey("Anna's new words")
    let replaced = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk, family.annaPhone], by: new,
      replacing: [family.anna.words])
    #expect(family.world.trust(memory: memory).device(family.annaPhone.certificate) == .former)
    #expect(family.world.trust().people[family.anna.id]?.shadowed == [removal])
    _ = family.world.closing(
      of: family.anna, follows: [removal, replaced], stay: [family.annaDesk], by: new, time: 3)
    #expect(family.world.trust().people[family.anna.id]?.shadowed.isEmpty == true)
    #expect(family.world.trust().device(family.annaPhone.certificate) == .former)
  }

  /// 6: of two keys that replaced one, one endorses the other, and a closing follows both lines.
  @Test func twoReplacementsAreJoinedByAnEndorsement() {
    var family = Family()
    let first = family.openings[family.anna] ?? .zero
    let (one, other) = (TestKey("one"), TestKey("other"))
    let left = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk], by: one,
      replacing: [family.anna.words])
    let right = family.world.closing(
      of: family.anna, follows: [first], stay: [family.annaDesk, family.annaPhone], by: other,
      replacing: [family.anna.words])
    let apart = family.world.trust()
    #expect(apart.people[family.anna.id]?.isContested == true)
    #expect(apart.device(family.annaPhone.certificate) == .former)
    #expect(apart.device(family.annaDesk.certificate) == .counts)
    let joined = family.world.closing(
      of: family.anna, follows: [left, right], stay: [family.annaDesk], by: one,
      replacing: [other])
    let trust = family.world.trust()
    #expect(trust.people[family.anna.id]?.isContested == false)
    #expect(trust.people[family.anna.id]?.openGeneration == joined)
    // Without the endorsement it would not be valid.
    let claimed = family.world.closing(
      of: family.anna, follows: [left, right], stay: [family.annaPhone], by: one)
    #expect(family.world.trust().people[family.anna.id]?.unplaced == [claimed])
  }

  /// 7: a hand over taken back by a sock puppet's: memory decides; without it, it is contested.
  @Test func handOverTakenBackIsContestedAndMemoryDecides() {
    var family = Family()
    let emma = family.emma
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk,
      follows: [family.carlIn])
    let memory = family.world.trust().memory
    #expect(memory.ends == [handOver])
    let puppet = family.newcomer("Puppet")
    for name in 0..<8 {
      let rank = family.newcomer("Puppet \(name)")
      let made = family.world.link(
        emma, by: family.annaDesk, as: family.annasPlace, [.give(rank.person, .owner)])
      _ = family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: rank, follows: [made])
    }
    _ = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: puppet)
    let known = family.world.trust(memory: memory)
    #expect(known.access(to: emma)?.owners.first == family.carl.id)
    #expect(known.access(to: emma)?.contested.isEmpty == true)
    #expect(known.role(family.ben, in: emma) == .owner)
    #expect(known.memory.ends == [handOver])
    let fresh = family.world.trust()
    #expect(fresh.access(to: emma)?.contested == [family.annasPlace])
    #expect(fresh.memory.ends.isEmpty)
  }

  /// 7: an end that a person has refused is none, whatever becomes of the one that they said was true.
  @Test func whatAPersonRefusedEndsNothingLaterEither() throws {
    var family = Family()
    let emma = family.emma
    let (dora, puppet) = (family.newcomer("Dora"), family.newcomer("Puppet"))
    let opening = try #require(family.world.trust().people[dora.person.id]?.openGeneration)
    let ends = [dora, puppet].map { taker in
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: taker, follows: [family.carlIn])
    }
    let settled = TrustMemory(ends: [ends[0]], refusedEnds: [ends[1]])
    #expect(family.world.trust(memory: settled).access(to: emma)?.owners.first == dora.person.id)
    // The device that agreed departs, and nobody lists what it signed.
    _ = family.world.closing(of: dora.person, follows: [opening])
    let trust = family.world.trust(memory: settled)
    #expect(trust.access(to: emma)?.owners.first == family.anna.id)
    #expect(trust.access(to: emma)?.contested.isEmpty == true)
    #expect(trust.role(puppet.person, in: emma) == nil)
    let places = try #require(trust.members[emma]?.placesGivenUpTwice)
    #expect(places.flatMap(\.ends).map(\.link) == [ends[1]])
    #expect(places.flatMap(\.ends).map(\.counts) == [false])
    // There is nothing more to say of it.
    #expect(places.map(\.isRemembered) == [false] && places.map(\.isContested) == [false])
    // The thief can sign another one, which the person has not refused.
    let third = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: puppet, follows: [family.benIn])
    #expect(family.world.trust(memory: settled).members[emma]?.ends == [third])
  }

  /// 7: nor does it keep from being one what comes after it, as others know of it for whom it counts.
  @Test func whatComesAfterARefusedEndIsOne() throws {
    var family = Family()
    let emma = family.emma
    let (dora, puppet) = (family.newcomer("Dora"), family.newcomer("Puppet"))
    let opening = try #require(family.world.trust().people[dora.person.id]?.openGeneration)
    let ends = [dora, puppet].map { taker in
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: taker, follows: [family.carlIn])
    }
    let settled = TrustMemory(ends: [ends[0]], refusedEnds: [ends[1]])
    _ = family.world.closing(of: dora.person, follows: [opening])
    let known = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [ends[1]], [])
    let again = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk, follows: [known])
    let history = try #require(family.world.trust(memory: settled).members[emma])
    #expect(history.ends == [again])
    #expect(history.access.owners.first == family.carl.id && history.access.contested == [])
    #expect(history.placesGivenUpTwice.flatMap(\.ends).filter(\.isRefused).map(\.link) == [ends[1]])
  }

  /// 7: an end that a person has refused is told, and who gained by it known, also where it comes after another such.
  @Test func aRefusedEndHidesNoOther() throws {
    var family = Family()
    let emma = family.emma
    let takers = ["Dora", "Puppet", "Friend"].map { family.newcomer($0) }
    var ends = takers[..<2].map { taker in
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: taker, follows: [family.carlIn])
    }
    let known = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [ends[1]], [])
    ends.append(
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: takers[2], follows: [known]))
    let settled = TrustMemory(ends: [ends[0]], refusedEnds: Set(ends[1...]))
    let history = try #require(family.world.trust(memory: settled).members[emma])
    #expect(history.ends == [ends[0]])
    let told = history.placesGivenUpTwice.flatMap(\.ends)
    #expect(Set(told.filter(\.isRefused).map(\.link)) == Set(ends[1...]))
    #expect(history.couldWrite(takers[2].person.id))
  }

  /// 7: where nobody would be left, the one who stays does so also against the end that a person has refused.
  @Test func whoStaysDoesNotHandOverByARefusedEnd() throws {
    var family = Family()
    let emma = family.emma
    let puppet = family.newcomer("Puppet")
    let forged = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: puppet, follows: [family.carlIn])
    let leaving = family.world.link(
      emma, by: family.annaDesk, as: nil, follows: [family.carlIn],
      [.limit(family.anna.id, nil, until: 0)])
    for device in [family.benDesk, family.carlDesk] {
      _ = family.world.link(
        emma, by: device, as: nil, follows: [family.carlIn],
        [.limit(device.person.id, nil, until: 0)])
    }
    // Had the person not said anything, it would be the end.
    #expect(family.world.trust().role(puppet.person, in: emma) == .owner)
    let settled = TrustMemory(ends: [leaving], refusedEnds: [forged])
    #expect(family.world.trust(memory: settled).access(to: emma)?.owners == [family.anna.id])
    #expect(family.world.trust(memory: settled).role(puppet.person, in: emma) == nil)
  }

  /// 7: whoever has access only by one of a contested place's ends is told apart from those who have it besides.
  @Test func whoHasAccessOnlyByAContestedEndIsOnlyClaimed() throws {
    var family = Family()
    let emma = family.emma
    let puppet = family.newcomer("Puppet")
    let friend = family.newcomer("Friend of the puppet")
    let other = family.newcomer("Known to the puppet")
    let ends = [
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: puppet, follows: [family.carlIn]),
      family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk,
        follows: [family.carlIn]),
    ]
    _ = family.world.link(
      emma, by: puppet, as: family.annasPlace, follows: [ends[0]],
      [.give(friend.person, .viewer), .give(other.person, .owner)])
    let made = try #require(
      family.world.trust(memory: TrustMemory(ends: [ends[0]])).access(to: emma))
    #expect(made.contested.isEmpty && made.claimed.isEmpty)
    #expect(made.includes(friend.person.id) && made.includes(other.person.id))
    let access = try #require(family.world.trust().access(to: emma))
    #expect(access.contested == [family.annasPlace])
    let chosen = try #require(ends.min())
    // Carl was an owner before; Ben's place is his own.
    #expect(
      access.claimed
        == (chosen == ends[0] ? Set([puppet, friend, other].map(\.person.id)) : []))
    #expect(access.includes(family.ben.id))
  }

  /// 7: who does not carry what makes the other end, and what comes after it, would know of one end only, and believe it.
  @Test func whatMakesTheOtherEndOfAContestedPlaceLasts() throws {
    var family = Family()
    let emma = family.emma
    let takers = [family.newcomer("Puppet"), family.newcomer("Taker")]
    var (ends, made): ([StatementID], [[StatementID]]) = ([], [])
    for taker in takers {
      let end = family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: taker, follows: [family.carlIn])
      let friend = family.newcomer("Friend of \(taker.person.name)")
      let gift = family.world.link(
        emma, by: taker, as: family.annasPlace, follows: [end], [.give(friend.person, .owner)])
      let further = family.world.link(
        emma, by: friend, as: Place(link: gift, person: friend.person.id), follows: [gift],
        [.give(family.carl, .viewer)])
      ends.append(end)
      made.append([gift, further])
    }
    let stranger = family.newcomer("Stranger")
    let strangers = family.world.link(
      emma, by: stranger, as: family.annasPlace, follows: ends, [.give(stranger.person, .owner)])
    let history = try #require(family.world.trust().members[emma])
    let (chosen, other) = ends[0] < ends[1] ? (0, 1) : (1, 0)
    for link in made[chosen] { #expect(history.verdict(on: link) == .counts) }
    for link in made[other] { #expect(history.verdict(on: link) == .contested(by: ends[chosen])) }
    #expect(history.verdict(on: strangers) == .noPlace)
    for end in ends { #expect(history.lasting.isSuperset(of: family.world.steps(of: end))) }
    #expect(history.lasting.isSuperset(of: made[other]) && !history.lasting.contains(strangers))
    // Where one end is remembered, what comes after the other is nothing.
    let sure = try #require(
      family.world.trust(memory: TrustMemory(ends: [ends[other]])).members[emma])
    for link in made[chosen] { #expect(sure.verdict(on: link) == .noPlace) }
    for link in made[other] { #expect(sure.verdict(on: link) == .counts) }
  }

  /// 7: what is sealed under an epoch that hangs on the other end is put under no key of this one: whoever is out by the one
  /// would read it by the other.
  @Test func headOfAnEpochBehindTheOtherEndWaits() throws {
    var family = Family()
    let emma = family.emma
    var (ends, begun): ([StatementID], [StatementID]) = ([], [])
    for taker in [family.newcomer("Puppet"), family.carlDesk] {
      let end = family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: taker, follows: [family.carlIn])
      begun.append(
        family.world.link(
          emma, by: taker, as: family.annasPlace, follows: [end],
          [.limit(family.anna.id, nil, until: 0)],
          epoch: true, wraps: [family.ben, family.carl].map { family.wrap($0) }))
      ends.append(end)
    }
    let heads = begun.map { family.world.head(emma, by: family.benDesk, epoch: $0) }
    let trust = family.world.trust()
    #expect(trust.access(to: emma)?.contested == [family.annasPlace])
    let (chosen, other) = ends[0] < ends[1] ? (0, 1) : (1, 0)
    for head in heads {
      guard case .waiting = try trust.verdict(onHead: head) else { continue }
      #expect(head == heads[other])
    }
    try #expect(trust.verdict(onHead: heads[other]) == .waiting(for: begun[other]))
    // Whoever remembers an end knows whose head it is.
    let sure = family.world.trust(memory: TrustMemory(ends: [ends[other]]))
    try #expect([.counts, .late(begun[other])].contains(sure.verdict(onHead: heads[other])))
    try #expect(sure.verdict(onHead: heads[chosen]) != .counts)
  }

  /// 7: the taker's agreement serves at one point only.
  @Test func agreementServesAtOnePointOnly() throws {
    var family = Family()
    let emma = family.emma
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk,
      follows: [family.carlIn])
    let file = try #require(family.world.files[handOver])
    let link = try Link(decoding: SignedFile(decoding: file.bytes).body)
    let elsewhere = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.benIn], link.changes)
    let trust = family.world.trust()
    #expect(trust.link(elsewhere, in: emma) == .givenUp(by: handOver))
    #expect(trust.access(to: emma)?.contested.isEmpty == true)
  }

  /// 9: the order stays the same whatever is added, and a gift never comes before its giver.
  @Test func ownersOrderIsThatOfTheLinks() {
    var family = Family()
    let emma = family.emma
    let (dora, egon) = (family.newcomer("Dora"), family.newcomer("Egon"))
    _ = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.benIn],
      [.give(dora.person, .owner)])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(egon.person, .owner)])
    let owners = family.world.trust().access(to: emma)?.owners ?? []
    #expect(owners.first == family.anna.id)
    #expect(owners.dropFirst().first == family.ben.id)
    #expect(Set(owners.dropFirst(2).prefix(2)) == [family.carl.id, dora.person.id])
    #expect(owners.last == egon.person.id)
  }

  /// 10: two owners who lower somebody at once leave the lower role, and do not take all.
  @Test func loweringTwiceLeavesTheLesser() {
    var family = Family()
    let emma = family.emma
    for (device, place, role) in [
      (family.annaDesk, family.annasPlace, Role.editor),
      (family.benDesk, family.bensPlace, Role.viewer),
    ] {
      _ = family.world.link(
        emma, by: device, as: place, follows: [family.carlIn], [.take(family.carl, to: role)])
    }
    #expect(family.world.trust().role(family.carl, in: emma) == .viewer)
  }

  /// 11: carrying out an end takes nothing from what was prolonged beside it.
  @Test func endYieldsToALaterOneBesideIt() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .viewer, until: 100)])
    #expect(family.world.trust().role(dora.person, in: emma, at: 99) == .viewer)
    #expect(family.world.trust().role(dora.person, in: emma, at: 100) == nil)
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift],
      [.take(dora.person, until: 100)])
    #expect(family.world.trust().access(to: emma)?.includes(dora.person.id) == false)
    _ = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [gift],
      [.give(dora.person, .viewer, until: 200)])
    #expect(family.world.trust().role(dora.person, in: emma, at: 150) == .viewer)
  }

  /// 12: who leaves last, knowing of the others, stays; of those who did not know, the senior one.
  @Test func someoneStays() {
    var family = Family()
    let emma = family.emma
    let anna = family.world.leave(emma, by: family.annaDesk, follows: [family.carlIn])
    let ben = family.world.leave(emma, by: family.benDesk, follows: [family.carlIn])
    var knowing = family.world
    let last = knowing.leave(emma, by: family.carlDesk, follows: [anna, ben])
    #expect(knowing.trust().access(to: emma)?.owners == [family.carl.id])
    #expect(knowing.trust().link(last, in: emma) == .someoneStays)
    _ = family.world.leave(emma, by: family.carlDesk, follows: [family.carlIn])
    let trust = family.world.trust()
    #expect(trust.access(to: emma)?.owners == [family.anna.id])
    #expect(trust.link(anna, in: emma) == .someoneStays)
    #expect(trust.role(family.ben, in: emma) == nil)
  }

  /// 13: an epoch that lacks somebody who had access does not serve.
  @Test func epochForOneselfAloneDoesNotServe() {
    var family = Family()
    let emma = family.emma
    let alone = family.world.link(
      emma, by: family.carlDesk, as: family.carlsPlace, follows: [family.carlIn], [], epoch: true,
      wraps: [family.wrap(family.carl)])
    let trust = family.world.trust()
    #expect(
      trust.epochs[emma]?.states[alone]
        == .lacks([family.anna.id, family.ben.id].sorted()))
    #expect(trust.epochs[emma]?.current == family.start)
    _ = family.world.link(
      emma, by: family.carlDesk, as: family.carlsPlace, follows: [alone], [],
      wraps: [family.wrap(family.anna, alone), family.wrap(family.ben, alone)])
    #expect(family.world.trust().epochs[emma]?.current == alone)
  }

  /// 13: a closing of somebody with access ends the epochs that were wrapped for what it closed.
  @Test func closingExposesEpochs() {
    var family = Family()
    let emma = family.emma
    #expect(family.world.trust().epochs[emma]?.current == family.start)
    let closing = family.world.closing(
      of: family.ben, follows: [family.openings[family.ben] ?? .zero], stay: [family.benDesk])
    #expect(
      family.world.trust().epochs[emma]?.states[family.start] == .exposed([family.ben.id]))
    let anew = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn], [], epoch: true,
      wraps: [
        family.wrap(family.anna), family.wrap(family.carl),
        Wrap(epoch: nil, person: family.ben.id, generation: closing, file: .zero),
      ])
    #expect(family.world.trust().epochs[emma]?.current == anew)
  }

  /// 14: a head by nobody's key says what it waits for; what is signed by a former device does not.
  @Test func headOfAFormerDeviceDoesNotWait() throws {
    var family = Family()
    let emma = family.emma
    let head = family.world.head(
      emma, by: family.carlPhone, epoch: family.start, follows: [family.carlIn])
    _ = family.world.closing(
      of: family.carl, follows: [family.openings[family.carl] ?? .zero], stay: [family.carlDesk])
    try #expect(family.world.trust().verdict(onHead: head) == .former)
  }

  /// 16: a gift beside the giver's own giving up falls, and says by which link.
  @Test func giftBesideOnesOwnHandOverFalls() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.benDesk,
      follows: [family.carlIn])
    let gift = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .viewer)])
    let trust = family.world.trust()
    #expect(trust.link(gift, in: emma) == .givenUp(by: handOver))
    #expect(trust.role(dora.person, in: emma) == nil)
  }
}
