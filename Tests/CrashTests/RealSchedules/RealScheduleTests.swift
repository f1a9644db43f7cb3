import Glibc
import TestSupport
import Testing

/// Schedules of the built program, each from a seed: nothing is lost, a live mount shows what a fresh one does, and no
/// command ends otherwise than it should at that step. `KINVAULT_REAL_SEEDS=500+450` runs others. From `Seeds.widened` on empty
/// folders are removed, and modes changed, as well.
@Suite(.enabled(if: Machine.canMountDisks), .timeLimit(.minutes(60)))
struct RealScheduleTests {
  @Test(arguments: Seeds.first(50, widened: 4, unless: "KINVAULT_REAL_SEEDS"))
  func nothingIsLostAndAllAgree(seed: UInt64) throws {
    var schedule = try RealSchedule(seed: seed)
    var failures: [String] = []
    do {
      try schedule.run()
      failures = try schedule.failures()
    } catch {
      failures = ["\(error)"]
    }
    do { try schedule.lock() } catch { failures.append("lock: \(error)") }
    guard !failures.isEmpty else { return }
    Issue.record(
      "KINVAULT_REAL_SEEDS=\(seed)+1\n\((failures + schedule.trace).joined(separator: "\n"))")
  }
}
