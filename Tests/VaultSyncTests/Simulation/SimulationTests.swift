import Glibc
import TestSupport
import Testing

/// Two thousand schedules, and a hundred with later moves (`Seeds.widened`), each from a seed; `KINVAULT_SCHEDULES=5000+2000` runs
/// others, and `KINVAULT_SCHEDULES=1005000+2000` others with those moves. A failure prints its seed and what happened; to repeat it
/// alone: `KINVAULT_SEED=<seed> SWIFT_DETERMINISTIC_HASHING=1 swift test --filter SimulationTests`.
@Suite struct SimulationTests {
  /// So many schedules are one test case, so that two run at once and each is not too small.
  private static let groupSize = 10

  @Test(arguments: groups)
  func nothingIsLostAndAllAgree(seeds: [UInt64]) throws {
    let isRepeat = seeds.count == 1
    for seed in seeds {
      let isWhole = try SeededRandomness.with(seed: seed) {
        // Reading every object takes as long as everything else.
        try run(Simulation(seed: seed), readsEverything: isRepeat || seed % 8 == 0)
      }
      if !isWhole { return }
    }
  }

  /// What failed in campaigns: a machine that was copied, became a device of its own, was left out and was made anew by the words;
  /// a copy of what lost in which somebody has put a file of their own; a machine and its copy that both wrote under old keys;
  /// a deleted record that comes back with two names of one file, one of which was edited while the other was given; a head that goes
  /// on from a newer one than could be brought; a reader of a machine that was copied, beside its copy's head under old keys;
  /// a copy that was stopped after its last head showed, before it was kept; and one of whose line it had heard from others when it
  /// became a device of its own.
  @Test(
    arguments: [
      1_010_607, 1_018_799, 1_020_567, 2_029_391, 3_033_431, 3_003_579, 5_002_475, 7_031_215,
      8_051_175,
    ])
  func whatFailedOnceHolds(seed: UInt64) throws { try nothingIsLostAndAllAgree(seeds: [seed]) }

  /// - Returns: Whether all is as it has to be.
  private func run(_ simulation: consuming Simulation, readsEverything: Bool) -> Bool {
    do {
      try simulation.run()
      let failures = try simulation.failures(readsEverything: readsEverything)
      if failures.isEmpty { return true }
      report(simulation, failures.joined(separator: "\n"))
    } catch {
      report(simulation, "\(error)")
    }
    return false
  }

  private func report(_ simulation: Simulation, _ text: String) {
    Issue.record(
      "KINVAULT_SEED=\(simulation.seed)\n\(text)\n\(simulation.trace.joined(separator: "\n"))")
  }

  private static var groups: [[UInt64]] {
    let seeds = Seeds.first(2_000, widened: 100, unless: "KINVAULT_SCHEDULES")
    return stride(from: 0, to: seeds.count, by: groupSize).map {
      Array(seeds[$0..<min($0 + groupSize, seeds.count)])
    }
  }

  @Test(.enabled(if: getenv("KINVAULT_FREEZE_DEVICES") != nil, "only to make new devices"))
  func freezesDevices() throws { try FrozenDevices.freeze() }
}
