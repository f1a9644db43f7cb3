import Threads

/// Lets everyone who waits for a commit share one: whoever asks while a commit is under way is served by the next, together with
/// all others who ask meanwhile.
final class CommitQueue: @unchecked Sendable {
  // Everything below is protected by `monitor`.
  private let monitor = Monitor()
  private var isRunning = false
  private var startedCount: UInt64 = 0
  private var finishedCount: UInt64 = 0
  private var lastError: FileError?

  /// Returns when a run of `body` that began after this call has ended, with its error; the run may be that of
  /// another caller. Runs never overlap.
  func run(_ body: () throws(FileError) -> Void) throws(FileError) {
    monitor.lock()
    defer { monitor.unlock() }
    let awaited = startedCount + 1
    while finishedCount < awaited {
      guard !isRunning else {
        monitor.wait()
        continue
      }
      isRunning = true
      startedCount += 1
      let number = startedCount
      monitor.unlock()
      var failure: FileError?
      do throws(FileError) { try body() } catch { failure = error }
      monitor.lock()
      isRunning = false
      finishedCount = number
      lastError = failure
      monitor.broadcast()
    }
    if let lastError { throw lastError }
  }
}
