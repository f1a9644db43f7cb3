import Testing
import VaultModel
import VaultTrust

/// A link gives a key to somebody's keys that are not known here: what changed them has not come, or a store hides it.
@Suite struct AwaitedKeysTests {
  private var family = Family()

  /// A key for a generation of Carl's that nobody has.
  private var unknown: Wrap {
    Wrap(epoch: nil, person: family.carl.id, generation: .random(), file: .zero)
  }

  /// Anna removes her phone, and her link says so to whoever lacks the closing: nothing is given to what the phone has.
  @Test mutating func nothingIsGivenToKeysOfBefore() throws {
    let (emma, anna) = (family.emma, family.anna)
    let closing = family.world.closing(
      of: anna, follows: [family.openings[anna] ?? .zero], stay: [family.annaDesk],
      counted: [emma.root, family.start, family.benIn])
    let renewed = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn], epoch: true,
      wraps: [
        Wrap(epoch: nil, person: anna.id, generation: closing, file: .zero),
        family.wrap(family.ben), family.wrap(family.carl),
      ])
    let without = try #require(family.world.trust(without: [closing]).epochs[emma])
    #expect(without.awaited == [anna.id])
    #expect(without.current == renewed && without.states[renewed] == .serves)
    // Of before is known only that it is no more.
    #expect(without.states[family.start] == .exposed([anna.id]))
    // What somebody begins who knows no more lacks her, and is not given to her.
    let bens = family.world.link(
      emma, by: family.benDesk, as: family.bensPlace, follows: [renewed], epoch: true,
      wraps: [family.wrap(family.ben), family.wrap(family.carl)])
    let later = try #require(family.world.trust(without: [closing]).epochs[emma])
    #expect(later.states[bens] == .serves && later.unwrapped[bens] == [])
    let with = try #require(family.world.trust().epochs[emma])
    #expect(with.awaited == [] && with.unwrapped[bens] == [anna.id])
    #expect(with.states[bens] == .lacks([anna.id]) && with.current == renewed)
  }

  /// It is somebody's word, and lasts no longer than their device: a thief would keep others from their keys for ever.
  @Test mutating func aRemovedDevicesWordKeepsNobodyFromTheirKeys() throws {
    let (emma, ben) = (family.emma, family.ben)
    let bogus = family.world.link(
      emma, by: family.benPhone, as: family.bensPlace, follows: [family.carlIn], epoch: true,
      wraps: [family.wrap(family.anna), family.wrap(ben), unknown])
    let before = try #require(family.world.trust().epochs[emma])
    #expect(before.awaited == [family.carl.id])
    _ = family.world.closing(
      of: ben, follows: [family.openings[ben] ?? .zero], stay: [family.benDesk],
      counted: [family.carlIn, bogus])
    let trust = family.world.trust()
    #expect(trust.link(bogus, in: emma) == .counts)
    let after = try #require(trust.epochs[emma])
    #expect(after.awaited == [])
    #expect(after.states[bogus] == .exposed([ben.id, family.carl.id].sorted()))
  }

  /// Who could not take them out does not keep them from their keys either, nor from taking somebody out.
  @Test mutating func aJuniorsWordKeepsNoSeniorFromTheirKeys() throws {
    _ = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      wraps: [
        Wrap(epoch: family.start, person: family.anna.id, generation: .random(), file: .zero)
      ])
    #expect(try #require(family.world.trust().epochs[family.emma]).awaited == [])
    let carls = family.world.link(
      family.emma, by: family.benDesk, as: family.bensPlace, follows: [family.carlIn],
      wraps: [
        Wrap(epoch: family.start, person: family.carl.id, generation: .random(), file: .zero)
      ])
    #expect(try #require(family.world.trust().epochs[family.emma]).awaited == [family.carl.id])
    // With his place goes his word.
    _ = family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: [carls],
      [.take(family.ben)], confirmed: [family.carlIn, carls])
    #expect(try #require(family.world.trust().epochs[family.emma]).awaited == [])
  }

  /// What does not count says nothing.
  @Test mutating func aStrangersWordIsNone() throws {
    let mallory = family.newcomer("Mallory")
    for (device, place) in [(mallory, family.annasPlace), (family.carlDesk, family.annasPlace)] {
      _ = family.world.link(
        family.emma, by: device, as: place, follows: [family.carlIn], epoch: true,
        wraps: [unknown])
    }
    #expect(try #require(family.world.trust().epochs[family.emma]).awaited == [])
  }
}
