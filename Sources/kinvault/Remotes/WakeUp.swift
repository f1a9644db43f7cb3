import Glibc
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

/// Threads that nobody joins.
enum DetachedThread {
  /// Runs `body` on a thread of its own.
  static func start(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard failure == 0 else {
      box.release()
      preconditionFailure("no thread can be started: \(failure)")
    }
    pthread_detach(thread)
  }
}
