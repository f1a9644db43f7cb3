import Threads

/// Lets one thread wait until another has news. A signal that nobody waits for is kept.
final class WakeUp: Sendable {
  private let isSignalled = Monitor(false)

  func signal() { isSignalled.change { $0 = true } }

  /// Returns at a signal, or after this time.
  func wait(atMost time: Duration) {
    let deadline = ContinuousClock.now + time
    isSignalled.wait { isSignalled in
      let left = deadline - ContinuousClock.now
      guard !isSignalled, left > .zero else {
        isSignalled = false
        return .answer(())
      }
      return .waitAtMost(left)
    }
  }
}
