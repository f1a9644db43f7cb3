import Glibc
import Threads
import VaultFiles

/// Lets one thread wait until another has news. A signal that nobody waits for is kept.
final class WakeUp: @unchecked Sendable {
  // Protected by `monitor`.
  private let monitor = Monitor()
  private var isSignalled = false

  func signal() {
    monitor.withLock {
      isSignalled = true
      monitor.broadcast()
    }
  }

  /// Returns at a signal, or after this time.
  func wait(atMost time: Duration) {
    let deadline = ContinuousClock.now + time
    monitor.withLock {
      while !isSignalled {
        let left = deadline - ContinuousClock.now
        guard left > .zero else { break }
        monitor.wait(atMost: left)
      }
      isSignalled = false
    }
  }
}
