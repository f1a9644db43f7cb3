import Glibc
import TestSupport
import Testing

/// Two thousand schedules, each from a seed; `KINVAULT_SCHEDULES` says another number. A failure prints its seed and what
/// happened; to repeat it alone: `KINVAULT_SEED=<seed> SWIFT_DETERMINISTIC_HASHING=1 swift test --filter SimulationTests`.
@Suite struct SimulationTests {
  /// So many schedules are one test case, so that two run at once and each is not too small.
  private static let groupSize: UInt64 = 10

  @Test(arguments: Seeds.first(groupCount))
  func nothingIsLostAndAllAgree(group: UInt64) throws {
    let isRepeat = getenv("KINVAULT_SEED") != nil
    let seeds = isRepeat ? [group] : Array(group * Self.groupSize..<(group + 1) * Self.groupSize)
    for seed in seeds {
      let isWhole = try SeededRandomness.with(seed: seed) {
        // Reading every object takes as long as everything else.
        try run(Simulation(seed: seed), readsEverything: isRepeat || seed % 8 == 0)
      }
      if !isWhole { return }
    }
  }

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

  private static let groupCount: UInt64 =
    getenv("KINVAULT_SCHEDULES")
    .flatMap { UInt64(String(cString: $0)) }.map { $0 / groupSize } ?? 200

  @Test(.enabled(if: getenv("KINVAULT_FREEZE_DEVICES") != nil, "only to make new devices"))
  func freezesDevices() throws { try FrozenDevices.freeze() }
}
