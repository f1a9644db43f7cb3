import Glibc
import TestSupport
import Testing

/// An adversary with real keys beside people at real vaults, in many schedules, each from a seed; what holds is said in
/// Docs/Trust.md, "The adversary as a program".
///
/// An honest schedule is carried out alone, and then beside several adversaries. `KINVAULT_ADVERSARIES` says how many honest
/// ones, or with `500+200` from which one on: campaigns of hundreds find what a run of the suites, which takes one of each
/// kind, only guards. A failure prints the seeds and what happened. They give the same schedule again, the same that the
/// adversary tries, and with `SWIFT_DETERMINISTIC_HASHING=1` the same ids and orders but for those of links, whose wraps are
/// random: what hangs on these may take several runs.
@Suite struct AdversaryProgramTests {
  /// So many adversaries beside each honest schedule.
  private static let adversaryCount: UInt64 = 3

  @Test(arguments: seeds)
  func changesNothingThatItMayNot(seed: UInt64) throws {
    var run = try AdversaryRun(seed: seed)
    let failures = try run.runAlone()
    if !failures.isEmpty { return report(seed, "nobody", failures + run.trace) }
    for number in 0..<Self.adversaryCount {
      let adversary = seed * Self.adversaryCount + number
      do {
        let found = try run.run(beside: adversary)
        if !found.failures.isEmpty { report(seed, "\(adversary)", found.failures + found.trace) }
      } catch {
        report(seed, "\(adversary)", ["\(error)"])
      }
    }
  }

  private func report(_ seed: UInt64, _ adversary: String, _ lines: [String]) {
    Issue.record("KINVAULT_SEED=\(seed), adversary \(adversary)\n\(lines.joined(separator: "\n"))")
  }

  private static var seeds: [UInt64] {
    let text = getenv("KINVAULT_ADVERSARIES").map { String(cString: $0) } ?? "8"
    let parts = text.split(separator: "+").compactMap { UInt64($0) }
    return parts.count == 2 ? Array(parts[0]..<parts[0] + parts[1]) : Seeds.first(parts.first ?? 8)
  }
}
