import Glibc
import TestSupport
import Testing

/// An adversary with real keys beside people at real vaults, in many schedules, each from a seed.
///
/// A campaign: it runs where `KINVAULT_ADVERSARIES` says how many schedules, and its failures are findings that are open.
/// A failure prints its seed and what happened. The seed gives the same schedule again, and the same things that the
/// adversary tries; ids and keys are new in each run, so what hangs on their order may take several.
@Suite struct AdversaryProgramTests {
  @Test(
    .enabled(if: getenv("KINVAULT_ADVERSARIES") != nil, "a campaign: KINVAULT_ADVERSARIES=100"),
    arguments: Seeds.first(count))
  func changesNothingThatItMayNot(seed: UInt64) throws {
    var run = try AdversaryRun(seed: seed)
    do {
      let failures = try run.run()
      if !failures.isEmpty { report(run, failures.joined(separator: "\n")) }
    } catch {
      report(run, "\(error)")
    }
  }

  private func report(_ run: AdversaryRun, _ text: String) {
    Issue.record("KINVAULT_SEED=\(run.seed)\n\(text)\n\(run.trace.joined(separator: "\n"))")
  }

  private static let count =
    getenv("KINVAULT_ADVERSARIES").flatMap { UInt64(String(cString: $0)) } ?? 1
}
