import Testing
import VaultModel
import VaultTrust

/// A place goes from one owner to another: offered, agreed to, handed over. Docs/Format.md, section 16.
@Suite struct HandingOverTests {
  private let carlLast: [String] = ["Anna", "Ben", "Carl"]

  private func names(_ family: Family, _ trust: Trust) -> [String] {
    (trust.access(to: family.emma)?.owners ?? []).map { owner in
      [family.anna, family.ben, family.carl].first { $0.id == owner }?.name ?? "somebody"
    }
  }

  @Test func thePlaceIsPassedOn() {
    var family = Family()
    let emma = family.emma
    let offer = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    // Between offer and agreement nothing changes, nor between agreement and hand over.
    #expect(names(family, family.world.trust()) == carlLast)
    let agreement = family.world.agree(emma, by: family.carlPhone, to: offer)
    let before = family.world.trust()
    #expect(names(family, before) == carlLast)
    #expect(before.link(agreement, in: emma) == .counts)
    #expect(before.members[emma]?.offers.map(\.agreement) == [agreement])
    let handOver = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [agreement],
      [.handOver(family.carl.id)])
    let after = family.world.trust()
    #expect(names(family, after) == ["Carl", "Ben", "Carl"])
    #expect(after.role(family.anna, in: emma) == .editor)
    #expect(after.members[emma]?.offers.isEmpty == true)
    // The new holder takes out who came after the giver, and the giver; the giver takes out nobody.
    #expect(after.members[emma]?.mayTake(family.ben.id, by: family.carl.id) == true)
    #expect(after.members[emma]?.mayTake(family.anna.id, by: family.carl.id) == true)
    #expect(after.members[emma]?.mayTake(family.ben.id, by: family.anna.id) == false)
    let out = family.world.link(
      emma, by: family.carlDesk, as: family.annasPlace, follows: [handOver],
      [.take(family.ben), .take(family.anna)])
    let late = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [handOver], [.take(family.carl)])
    let last = family.world.trust()
    #expect(last.link(out, in: emma) == .counts)
    #expect(last.link(late, in: emma) == .givenUp(by: handOver))
    #expect(names(family, last) == ["Carl", "Carl"])
    #expect(last.role(family.anna, in: emma) == nil)
  }

  @Test func anotherPersonsAgreementDoesNothing() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let offer = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    for device in [family.benDesk, dora, family.annaPhone] {
      let agreement = family.world.agree(emma, by: device, to: offer)
      #expect(family.world.trust().link(agreement, in: emma) == .noPlace)
      #expect(family.world.trust().members[emma]?.offers.first?.agreement == nil)
      for taker in [family.carl, device.person] {
        _ = family.world.link(
          emma, by: family.annaDesk, as: family.annasPlace, follows: [agreement],
          [.handOver(taker.id)])
        #expect(names(family, family.world.trust()) == carlLast)
      }
    }
  }

  @Test func anAgreementServesForItsOwnOfferAlone() {
    var family = Family()
    let emma = family.emma
    let first = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    let agreement = family.world.agree(emma, by: family.carlDesk, to: first)
    let kept = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.anna, follows: [agreement])
    #expect(family.world.trust().members[emma]?.offers.isEmpty == true)
    let second = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [kept])
    let offers = family.world.trust().members[emma]?.offers ?? []
    #expect(offers.map(\.id) == [second])
    #expect(offers.map(\.agreement) == [nil])
    #expect(offers.map(\.hadAgreement) == [false])
    // Neither at the point of the second offer, nor later, nor for another place.
    for follows in [[second], [agreement, second], [agreement, family.carlIn]] {
      _ = family.world.link(
        emma, by: family.annaDesk, as: family.annasPlace, follows: follows,
        [.handOver(family.carl.id)])
    }
    _ = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [agreement],
      [.handOver(family.carl.id)])
    #expect(names(family, family.world.trust()) == carlLast)
  }

  @Test func anOfferMadeAnewKeepsTheYes() {
    var family = Family()
    let emma = family.emma
    let first = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    _ = family.world.agree(emma, by: family.carlDesk, to: first)
    let gift = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, follows: [family.carlIn],
      [.give(family.ben, .editor)])
    #expect(family.world.trust().members[emma]?.offers.map(\.isOvertaken) == [true])
    let tips = family.world.trust().members[emma]?.tips ?? []
    #expect(tips.contains(gift))
    _ = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: tips)
    let offers = family.world.trust().members[emma]?.offers ?? []
    #expect(offers.map(\.isOvertaken) == [false])
    #expect(offers.map(\.hadAgreement) == [true])
    #expect(offers.map(\.agreement) == [nil])
  }

  @Test func anOfferByWhoHoldsNoSuchPlaceIsNone() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .editor)])
    // An editor, and one who is taken out.
    let forged = family.world.offer(
      emma, by: dora, as: family.annasPlace, to: family.carl, follows: [gift])
    let former = family.world.offer(
      emma, by: family.benDesk, as: family.bensPlace, to: family.carl, follows: [gift])
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift], [.take(family.ben)])
    for offer in [forged, former] {
      let agreement = family.world.agree(emma, by: family.carlDesk, to: offer)
      #expect(family.world.trust().link(agreement, in: emma) == .noPlace)
    }
    #expect(family.world.trust().members[emma]?.offers.isEmpty == true)
    _ = family.world.link(
      emma, by: dora, as: family.annasPlace, follows: [forged], [.handOver(family.carl.id)])
    #expect(names(family, family.world.trust()) == ["Anna", "Carl"])
  }

  /// Of a tenure that has ended nothing is used again, though the giver is back in the place.
  @Test func anAgreementOfAnEarlierTenureServesForNoOther() {
    var family = Family()
    let emma = family.emma
    let first = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    let agreement = family.world.agree(emma, by: family.carlDesk, to: first)
    let there = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [agreement],
      [.handOver(family.carl.id)])
    let back = family.world.handOver(
      emma, by: family.carlDesk, as: family.annasPlace, to: family.annaDesk, follows: [there])
    #expect(names(family, family.world.trust()) == carlLast)
    let memory = family.world.trust().memory
    #expect(memory.ends == [there, back])
    for follows in [[agreement, back], [back]] {
      _ = family.world.link(
        emma, by: family.annaDesk, as: family.annasPlace, follows: follows,
        [.handOver(family.carl.id)])
    }
    #expect(names(family, family.world.trust(memory: memory)) == carlLast)
  }

  @Test func whoIsTakenOutMeanwhileIsOfferedNothing() {
    var family = Family()
    let emma = family.emma
    let offer = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    _ = family.world.agree(emma, by: family.carlDesk, to: offer)
    _ = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], [.take(family.carl)]
    )
    #expect(family.world.trust().members[emma]?.offers.isEmpty == true)
  }

  @Test func ofTwoOffersTheMoreSeniorTakerCounts() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .viewer)])
    for (device, taker) in [
      (family.annaDesk, dora.person), (family.annaPhone, family.carl),
      (family.annaDesk, family.ben),
    ] {
      _ = family.world.offer(
        emma, by: device, as: family.annasPlace, to: taker, follows: [gift])
    }
    let offers = family.world.trust().members[emma]?.offers ?? []
    #expect(offers.map(\.taker) == [family.ben.id])
    #expect(offers.map(\.isOvertaken) == [true])
  }
}
