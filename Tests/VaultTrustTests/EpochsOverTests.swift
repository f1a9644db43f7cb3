import Testing
import VaultModel
import VaultTrust

/// Which epochs are over, so that nobody needs their wraps: Docs/Format.md, "What becomes of wraps".
@Suite struct EpochsOverTests {
  private static func file(_ number: UInt8) -> FileHash {
    FileHash([UInt8](repeating: number, count: 32)) ?? .zero
  }

  private func wrap(
    _ family: Family, _ person: TestPerson, _ number: UInt8, of epoch: StatementID? = nil
  ) -> Wrap {
    Wrap(
      epoch: epoch, person: person.id, generation: family.openings[person] ?? .zero,
      file: Self.file(number))
  }

  /// Everyone's key of a new epoch.
  private func wraps(_ family: Family) -> [Wrap] {
    [
      wrap(family, family.anna, 11), wrap(family, family.ben, 12), wrap(family, family.carl, 13),
    ]
  }

  private func over(_ family: Family) -> Set<StatementID>? {
    family.world.trust().epochs[family.emma]?.over
  }

  @Test func whatIsBeforeTheOneWhoseKeyEveryoneHas() {
    var family = Family()
    #expect(over(family) == [])
    let next = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: wraps(family))
    #expect(family.world.trust().epochs[family.emma]?.current == next)
    #expect(over(family) == [family.start])
    let history = family.world.trust().members[family.emma]
    #expect(history?.hasEpoch(after: family.start) == true)
    #expect(history?.hasEpoch(after: next) == false)
    #expect(history?.wrapFiles(of: [next]) == Set([11, 12, 13].map(Self.file)))
  }

  @Test func notWhileSomebodyHasNoKeyOfTheLaterOne() {
    var family = Family()
    let dora = family.newcomer("Dora")
    // Given beside the new epoch, with a key of the old one only.
    let gift = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person.id, .editor, until: 0)])
    let next = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: wraps(family))
    #expect(family.world.trust().epochs[family.emma]?.current == next)
    #expect(over(family) == [])
    let opening = family.world.trust().people[dora.person.id]?.openGeneration ?? .zero
    _ = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [gift, next],
      wraps: [Wrap(epoch: next, person: dora.person.id, generation: opening, file: Self.file(14))])
    #expect(over(family) == [family.start])
  }

  @Test func notWhatIsBesideNorWhatFollows() {
    var family = Family()
    let left = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: wraps(family))
    let right = family.world.link(
      family.emma, by: family.carlDesk, as: family.carlsPlace, follows: [family.carlIn],
      epoch: true, wraps: wraps(family))
    #expect(over(family) == [family.start])
    let last = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [left, right], epoch: true,
      wraps: wraps(family))
    #expect(over(family) == [family.start, left, right])
    #expect(over(family)?.contains(last) == false)
  }

  /// The later one falls, as its beginner was taken out by somebody who did not know of it: the one before is in use again.
  @Test func whatFallsMakesTheOneBeforeNeededAgain() {
    var family = Family()
    let next = family.world.link(
      family.emma, by: family.carlDesk, as: family.carlsPlace, follows: [family.carlIn],
      epoch: true, wraps: wraps(family))
    #expect(over(family) == [family.start])
    _ = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.limit(family.carl.id, .editor, until: 0)])
    #expect(family.world.trust().epochs[family.emma]?.current == family.start)
    #expect(over(family) == [])
    #expect(family.world.trust().members[family.emma]?.hasEpoch(after: family.start) == true)
    #expect(family.world.trust().epochs[family.emma]?.ranking.contains(next) == false)
  }

  /// Somebody leaves who has the key of the later one. It serves no more, and the one before is needed no more than it was.
  @Test func whatIsOverStaysSoWhenSomebodyLeaves() {
    var family = Family()
    let next = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: wraps(family))
    _ = family.world.leave(family.emma, by: family.carlDesk, follows: [next])
    let epochs = family.world.trust().epochs[family.emma]
    #expect(epochs?.states[next] == .exposed([family.carl.id]))
    #expect(epochs?.current == nil && epochs?.ranking.first == next)
    #expect(over(family) == [family.start])
  }

  /// Whoever is no owner, or was one, says of a file that is needed that it is a wrap of an epoch that is over.
  @Test func whatDoesNotCountLetsNoFileGo() {
    var family = Family()
    let next = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: wraps(family))
    let mallory = family.newcomer("Mallory")
    for device in [mallory, family.carlDesk] {
      _ = family.world.link(
        family.emma, by: device, as: Place(link: family.carlIn, person: mallory.person.id),
        follows: [family.carlIn],
        wraps: [
          wrap(family, family.anna, 11, of: family.start),
          // Of a link that has not come yet.
          wrap(family, family.anna, 21, of: family.start),
        ])
    }
    let trust = family.world.trust()
    let files = trust.members[family.emma]?.wrapFiles(of: trust.epochs[family.emma]?.over ?? [])
    #expect(trust.epochs[family.emma]?.current == next)
    #expect(files?.isDisjoint(with: [11, 12, 13, 21].map(Self.file)) == true)
  }
}
