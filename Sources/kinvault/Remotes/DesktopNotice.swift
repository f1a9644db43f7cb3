import Glibc
import Processes
import Threads

/// Says on the desktop, by way of `notify-send`, that other people or machines have written something.
///
/// A notice may stand on a locked screen and be kept by the desktop, so it names nobody and nothing.
final class DesktopNotice: Sendable {
  enum Text: String, CaseIterable, Sendable {
    case news = "The family vault has news."
    case attention = "The family vault needs a look: kinvault status"
  }

  /// How long after a notice the next one with the same text may come.
  static let pause = Duration.seconds(300)

  private let last = Guarded<[Text: ContinuousClock.Instant]>([:])

  /// Tells what came of a sync, where that is something that others have done.
  func tell(of outcome: SyncOutcome) {
    if outcome.needsAttention {
      show(.attention)
    } else if outcome.changedRecords > 0 {
      show(.news)
    }
  }

  private func show(_ text: Text) {
    let now = ContinuousClock.now
    let isDue = last.withLock { last in
      if let before = last[text], now - before < Self.pause { return false }
      last[text] = now
      return true
    }
    guard isDue else { return }
    // A desktop that hangs holds up nobody. Where there is none, or no such program, there is nobody to tell.
    _ = SystemThread.detach {
      let process = try? ChildProcess(
        "notify-send",
        ["--app-name=Kinvault", "--icon=org.kinvault.Kinvault", "Kinvault", text.rawValue])
      process?.wait()
    }
  }
}
