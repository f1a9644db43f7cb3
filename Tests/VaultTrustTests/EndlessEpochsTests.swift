import Synchronization
import Testing
import VaultModel
import VaultTrust

/// Number 14 of the review: who is out begins epochs one after another, without end.
@Suite struct EndlessEpochsTests {
  @Test func theyChangeNothingAndEachSignatureIsVerifiedOnce() {
    var family = Family()
    let (emma, anna) = (family.emma, family.anna)
    let taking = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.take(family.ben)], epoch: true, wraps: [anna, family.carl].map { family.wrap($0) },
      confirmed: [family.carlIn])
    _ = family.world.closing(
      of: anna, follows: [family.openings[anna] ?? .zero], stay: [family.annaDesk],
      counted: [emma.root, family.start, family.benIn, taking])
    let before = family.world.trust()
    let ranking = before.epochs[emma]?.ranking
    #expect(before.role(family.ben, in: emma) == nil && ranking?.count == 2)
    // Ben, an owner who was taken out, and the thief of Anna's phone.
    var last = [taking, taking]
    for number in 0..<2_500 {
      let isBens = number.isMultiple(of: 2)
      last[number % 2] = family.world.link(
        emma, by: isBens ? family.benDesk : family.annaPhone,
        as: isBens ? family.bensPlace : family.annasPlace, follows: [last[number % 2]],
        [.give(family.ben, .owner)], epoch: true,
        wraps: [family.wrap(family.ben), family.wrap(family.carl)], time: UInt64(number))
    }
    let verified = Mutex(0)
    let counting = SignatureCheck { message, signature, key in
      verified.withLock { $0 += 1 }
      return TestKey.check.isRight(message, signature, key)
    }
    let after = family.world.trust(memory: before.memory, check: counting)
    #expect(verified.withLock { $0 } <= family.world.files.count * 2)
    #expect(after.epochs[emma]?.ranking == ranking)
    #expect(after.access(to: emma) == before.access(to: emma))
    #expect(after.link(last[0], in: emma) == .taken(by: taking))
    #expect(after.link(last[1], in: emma) == .departed)
    #expect(after.members[emma]?.counting == before.members[emma]?.counting)
    // Nothing of it is kept.
    #expect(after.memory == before.memory)
  }
}
