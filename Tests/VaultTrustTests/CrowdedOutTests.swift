import Testing
import VaultModel
import VaultTrust

/// Any number of statements that come first in the order of links, by whoever would gain by it, take nothing of its say from
/// one that comes later.
@Suite struct CrowdedOutTests {
  private static let crowd = 300

  /// Ben leaves; then he writes as many leavings as he likes, from before everything that was given to him.
  @Test func whoLeftDoesNotComeBackByLeavingsFromBefore() {
    var family = Family()
    let emma = family.emma
    let left = family.world.leave(emma, by: family.benDesk, follows: [family.carlIn])
    #expect(family.world.trust().role(family.ben, in: emma) == nil)
    let memory = family.world.trust().memory
    for number in 0..<Self.crowd {
      _ = family.world.link(
        emma, by: family.benDesk, as: nil, [.limit(family.ben.id, .editor, until: 0)],
        time: UInt64(number))
    }
    for trust in [family.world.trust(), family.world.trust(memory: memory)] {
      #expect(trust.link(left, in: emma) == .counts)
      #expect(trust.role(family.ben, in: emma) == nil)
      #expect(trust.access(to: emma)?.owners == [family.anna.id, family.carl.id])
    }
  }

  /// Dora is given something twice, and leaves. Leavings that know of her first gift alone count, and end nothing that she
  /// was given later.
  @Test func whoLeftDoesNotComeBackByLeavingsInBetween() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let first = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .viewer)])
    let second = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [first],
      [.give(dora.person, .editor)])
    let meanwhile = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [second],
      [.give(family.ben, .viewer)])
    let left = family.world.leave(emma, by: dora, follows: [meanwhile])
    for number in 0..<Self.crowd {
      _ = family.world.link(
        emma, by: dora, as: nil, follows: [first], [.limit(dora.person.id, .viewer, until: 0)],
        time: UInt64(number))
    }
    let trust = family.world.trust()
    #expect(trust.link(left, in: emma) == .counts)
    #expect(trust.role(dora.person, in: emma) == nil)
  }

  /// Whoever has a device of the taker agrees to the same offer as often as they like.
  @Test func agreementsToOneOfferUndoNoHandOver() {
    var family = Family()
    let emma = family.emma
    let offer = family.world.offer(
      emma, by: family.annaDesk, as: family.annasPlace, to: family.carl, follows: [family.carlIn])
    let agreement = family.world.agree(emma, by: family.carlDesk, to: offer)
    let handOver = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [agreement],
      [.handOver(family.carl.id)])
    let memory = family.world.trust().memory
    let owners = [family.carl.id, family.ben.id, family.carl.id]
    #expect(family.world.trust().access(to: emma)?.owners == owners)
    var (time, lesser): (UInt64, Int) = (1, 0)
    while lesser < Self.crowd {
      let another = family.world.link(
        emma, by: family.carlPhone, as: nil, follows: [offer], [.agree(family.carl.id)], time: time)
      if another < agreement { lesser += 1 }
      time += 1
    }
    for trust in [family.world.trust(), family.world.trust(memory: memory)] {
      #expect(trust.link(agreement, in: emma) == .counts)
      #expect(trust.link(handOver, in: emma) == .counts)
      #expect(trust.access(to: emma)?.owners == owners)
    }
  }

  /// Whoever has a device of an owner makes somebody an owner many times, who leaves many times: every leaving may end every one of
  /// these tenures. Each is judged, and told in part.
  @Test func manyLeavingsOfManyTenuresAreToldInPart() throws {
    var family = Family()
    let emma = family.emma
    let puppet = family.newcomer("Puppet")
    var last = family.carlIn
    for _ in 0..<100 {
      last = family.world.link(
        emma, by: family.annaPhone, as: family.annasPlace, follows: [last],
        [.give(puppet.person, .owner)])
    }
    for number in 0..<1_000 {
      _ = family.world.link(
        emma, by: puppet, as: nil, follows: [last], [.limit(puppet.person.id, nil, until: 0)],
        time: UInt64(number))
    }
    let trust = family.world.trust()
    let history = try #require(trust.members[emma])
    #expect(trust.role(puppet.person, in: emma) == nil)
    let places = history.placesGivenUpTwice
    #expect(places.count == 100)
    #expect(places.allSatisfy { $0.ends.count <= 65 && $0.isContested })
  }
}
