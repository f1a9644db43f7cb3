import Threads

/// Lets everyone who waits for a commit share one: whoever asks while a commit is under way is served by the next, together with
/// all others who ask meanwhile.
final class CommitQueue: Sendable {
  private struct Runs {
    var isRunning = false
    var startedCount: UInt64 = 0
    var finishedCount: UInt64 = 0
    var lastError: FileError?
  }

  private enum Turn {
    /// The caller's, with its number.
    case begins(UInt64)
    /// A run that began after the call has ended.
    case ended(FileError?)
  }

  private let runs = Monitor(Runs())

  /// Returns when a run of `body` that began after this call has ended, with its error; the run may be that of
  /// another caller. Runs never overlap.
  func run(_ body: () throws(FileError) -> Void) throws(FileError) {
    let awaited = runs.withLock { $0.startedCount + 1 }
    while true {
      switch nextTurn(awaited) {
      case .ended(nil): return
      case .ended(let error?): throw error
      case .begins(let number):
        var failure: FileError?
        do { try body() } catch { failure = error }
        runs.change {
          $0.isRunning = false
          $0.finishedCount = number
          $0.lastError = failure
        }
      }
    }
  }

  private func nextTurn(_ awaited: UInt64) -> Turn {
    runs.wait { runs in
      if runs.finishedCount >= awaited { return .answer(.ended(runs.lastError)) }
      if runs.isRunning { return .wait }
      runs.isRunning = true
      runs.startedCount += 1
      return .answer(.begins(runs.startedCount))
    }
  }
}
