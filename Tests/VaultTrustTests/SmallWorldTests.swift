import Fuzzing
import Testing
import VaultModel
import VaultTrust

/// A small world, whole: every set of honest links with every set of files by keys that do not
/// count. Those change no verdict on the others, and no access.
@Suite struct SmallWorldTests {
  /// Three people with two devices each, a closing, a hand over, honest links and hostile ones.
  private struct Small {
    var family = Family()
    var honest: [StatementID] = []
    var hostile: [StatementID] = []
    var heads: [[UInt8]] = []
    let memory: TrustMemory

    init() {
      let emma = family.emma
      let (dora, egon) = (family.newcomer("Dora"), family.newcomer("Egon"))
      // Fixed: Dora was an owner and was taken out; Anna handed over to Carl; Ben lost his phone.
      let dorasGift = family.world.link(
        emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
        [.give(dora.person, .owner)])
      let dorasPlace = Place(link: dorasGift, person: dora.person.id)
      let taking = family.world.link(
        emma, by: family.benDesk, as: family.bensPlace, follows: [dorasGift],
        [.take(dora.person)])
      let handOver = family.world.handOver(
        emma, by: family.annaDesk, as: family.annasPlace, to: family.carlDesk, follows: [taking])
      _ = family.world.closing(
        of: family.ben, follows: [family.openings[family.ben] ?? .zero], stay: [family.benDesk])
      memory = family.world.trust().memory

      // Honest, each on its own: two who lower one person, a gift, an epoch, a leaving.
      honest = [
        family.world.link(
          emma, by: family.carlPhone, as: family.annasPlace, follows: [handOver],
          [.take(family.anna), .give(family.anna, .editor)]),
        family.world.link(
          emma, by: family.benDesk, as: family.bensPlace, follows: [taking],
          [.take(family.anna, to: .viewer)]),
        family.world.link(
          emma, by: family.benDesk, as: family.bensPlace, follows: [handOver],
          [.give(family.anna, .viewer, until: 50)], time: 3),
        family.world.link(
          emma, by: family.carlDesk, as: family.annasPlace, follows: [handOver], [], epoch: true,
          wraps: [family.wrap(family.carl)]),
        family.world.leave(emma, by: family.benDesk, follows: [handOver]),
      ]
      // Hostile: the removed phone, Dora, Anna from before, a stranger, from early on and from late.
      let stranger = egon.person
      hostile = [
        family.world.link(
          emma, by: family.benPhone, as: family.bensPlace, follows: [family.benIn],
          [.give(stranger, .owner), .take(family.carl)]),
        family.world.link(
          emma, by: dora, as: dorasPlace, follows: [dorasGift],
          [.take(family.anna), .give(stranger, .owner)]),
        family.world.link(
          emma, by: family.annaPhone, as: family.annasPlace, follows: [family.benIn],
          [.take(family.ben), .take(family.carl), .give(stranger, .owner)]),
        family.world.handOver(
          emma, by: family.annaDesk, as: family.annasPlace, to: egon, follows: [dorasGift]),
        family.world.leave(emma, by: dora, follows: []),
        family.world.link(
          emma, by: egon, as: family.bensPlace, follows: [handOver], [.take(family.ben)],
          epoch: true, wraps: [family.wrap(family.carl)]),
      ]
      heads = [family.benDesk, family.carlDesk, family.annaDesk, family.benPhone, egon].map {
        family.world.head(emma, by: $0, epoch: family.start, follows: [handOver])
      }
    }

    /// All that is to stay the same, in words that can be compared.
    func outcome(_ trust: Trust, _ present: [StatementID]) -> [String] {
      let access = trust.access(to: family.emma)
      let people = [family.anna, family.ben, family.carl].map {
        "\($0.name) \(access?.entitlements[$0.id]?.map { "\($0.role) \($0.until)" }.sorted() ?? [])"
      }
      return people
        + ["owners \(access?.owners ?? [])", "\(trust.epochs[family.emma]?.current?.hex ?? "")"]
        + present.map { "\(String(describing: trust.link($0, in: family.emma)))" }
        + heads.map { head in
          (try? trust.verdict(onHead: head)).map { "\($0)" } ?? "broken"
        }
    }
  }

  @Test func hostileFilesChangeNothingInAnyWorld() {
    let small = Small()
    var worlds = 0
    for some in 0..<(1 << small.honest.count) {
      let present = subset(small.honest, some)
      var expected: [String] = []
      for others in 0..<(1 << small.hostile.count) {
        let hidden = Set(small.honest).subtracting(present)
          .union(Set(small.hostile).subtracting(subset(small.hostile, others)))
        let trust = small.family.world.trust(memory: small.memory, without: hidden)
        let found = small.outcome(trust, present)
        if others == 0 { expected = found }
        // A head that could not be read would be the same in all of them.
        #expect(!found.contains("broken"))
        #expect(found == expected, "honest \(some), hostile \(others)")
        worlds += 1
      }
    }
    #expect(worlds == 2_048)
  }

  /// Every subset of all files: nothing traps, and what waits says for what.
  @Test func everyLossIsSaid() throws {
    let family = Family()
    let ids = family.world.files.keys.sorted()
    let head = family.world.head(
      family.emma, by: family.carlPhone, epoch: family.start, follows: [family.carlIn])
    var waitingCount = (links: 0, heads: 0)
    for number in 0..<400 {
      var random = SeededRandom(seed: UInt64(number))
      let hidden = Set(ids.filter { _ in random.number(below: 6) == 0 })
      let trust = family.world.trust(without: hidden)
      for link in [family.start, family.benIn, family.carlIn] where !hidden.contains(link) {
        guard trust.members[family.emma] != nil, trust.statements.waiting[link] == nil else {
          continue
        }
        let verdict = trust.link(link, in: family.emma)
        switch verdict {
        case .counts?: break
        case .waits(let missing)?:
          waitingCount.links += 1
          #expect(hidden.contains(missing) || trust.link(missing, in: family.emma) != .counts)
        default: Issue.record("seed \(number): \(String(describing: verdict))")
        }
      }
      switch try trust.verdict(onHead: head) {
      case .counts: break
      case .waiting(let missing):
        waitingCount.heads += 1
        #expect(
          hidden.contains(missing) || trust.statements.waiting[missing] != nil
            || trust.members[family.emma] == nil || trust.link(missing, in: family.emma) != .counts)
      case let other: Issue.record("seed \(number): \(other)")
      }
    }
    #expect(waitingCount.links > 0 && waitingCount.heads > 0)
  }

  private func subset(_ ids: [StatementID], _ bits: Int) -> [StatementID] {
    ids.indices.filter { bits >> $0 & 1 == 1 }.map { ids[$0] }
  }
}
