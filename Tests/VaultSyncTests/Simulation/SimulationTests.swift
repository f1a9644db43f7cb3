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
      var simulation = try Simulation(seed: seed)
      do {
        try simulation.run()
        // Reading every object takes as long as everything else.
        let failures = try simulation.failures(readsEverything: isRepeat || seed % 8 == 0)
        guard !failures.isEmpty else { continue }
        report(simulation, failures.joined(separator: "\n"))
      } catch {
        report(simulation, "\(error)")
      }
      return
    }
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
