import Testing
import VaultModel
import VaultTrust

/// Under which epochs nothing is written any more: Docs/Format.md, "Which epoch is written under".
@Suite struct SpentEpochTests {
  private var family = Family()
  private let dora: TestDevice
  /// Dora is given access.
  private let doraIn: StatementID

  init() {
    dora = family.newcomer("Dora")
    doraIn = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person.id, .editor, until: 0)])
  }

  private func wraps(_ people: [TestPerson]) -> [Wrap] {
    let trust = family.world.trust()
    return people.enumerated().map { number, person in
      Wrap(
        epoch: nil, person: person.id, generation: trust.people[person.id]?.openGeneration ?? .zero,
        file: FileHash([UInt8](repeating: UInt8(number + 1), count: 32)) ?? .zero)
    }
  }

  private func isSpent(_ epoch: StatementID, without closed: Set<StatementID> = []) -> Bool? {
    let trust = family.world.trust()
    guard let member = trust.members[family.emma] else { return nil }
    return trust.epochs[family.emma]?.isSpent(epoch, in: member) { !closed.contains($0) }
  }

  /// Anna takes Carl out, and Ben takes Dora out, neither knowing of the other.
  private mutating func takeTwoOutAtOnce() -> (annas: StatementID, bens: StatementID) {
    let annas = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [doraIn],
      [.limit(family.carl.id, nil, until: 0)], epoch: true,
      wraps: wraps([family.anna, family.ben, dora.person]))
    let bens = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [doraIn],
      [.limit(dora.person.id, nil, until: 0)], epoch: true,
      wraps: wraps([family.anna, family.ben, family.carl]))
    return (annas, bens)
  }

  @Test func bothOfTwoThatLetSomebodyElseOut() {
    var tests = self
    let (annas, bens) = tests.takeTwoOutAtOnce()
    #expect(tests.isSpent(annas) == true)
    #expect(tests.isSpent(bens) == true)
    // Whoever has the key of one only goes on with that.
    #expect(tests.isSpent(annas, without: [bens]) == false)
    let third = tests.family.world.link(
      tests.family.emma, by: tests.family.benDesk, as: tests.family.bensPlace,
      follows: [annas, bens], epoch: true,
      wraps: tests.wraps([tests.family.anna, tests.family.ben]))
    #expect(tests.family.world.trust().epochs[tests.family.emma]?.current == third)
    #expect(tests.isSpent(third) == false)
    #expect(tests.isSpent(annas) == true)
  }

  /// That somebody is out is not enough: nobody has begun an epoch for it yet, and whoever is no owner could not.
  @Test func notOneBesideWhichThereIsNoOther() {
    var tests = self
    _ = tests.family.world.link(
      tests.family.emma, by: tests.family.annaDesk, as: tests.family.annasPlace,
      follows: [tests.doraIn], [.limit(tests.family.carl.id, nil, until: 0)])
    let start = tests.family.start
    let state = tests.family.world.trust().epochs[tests.family.emma]?.states[start]
    #expect(state == .exposed([tests.family.carl.id]))
    #expect(tests.isSpent(start) == false)
  }

  /// An epoch that comes before another one carries nothing out that the later one did not know of.
  @Test func notForWhatCameBefore() {
    var tests = self
    let next = tests.family.world.link(
      tests.family.emma, by: tests.family.annaDesk, as: tests.family.annasPlace,
      follows: [tests.doraIn], epoch: true,
      wraps: tests.wraps([
        tests.family.anna, tests.family.ben, tests.family.carl, tests.dora.person,
      ]))
    _ = tests.family.world.link(
      tests.family.emma, by: tests.family.benDesk, as: tests.family.bensPlace, follows: [next],
      [.limit(tests.dora.person.id, nil, until: 0)])
    // The first one was never wrapped for Dora.
    #expect(tests.isSpent(next) == false)
  }
}
