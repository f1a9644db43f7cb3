import Dispatch
import Glibc
import Synchronization
import Threads

/// A `SystemThread` that can be waited for, more than once, and interrupted.
final class MountThread: Sendable {
  private let handle: Guarded<pthread_t?>
  private let body: Body

  /// Starts a thread. Running out of threads is a broken invariant here: the mount has only just begun.
  init(_ run: @escaping @Sendable () -> Void) {
    let body = Body(run)
    guard let thread = SystemThread.start({ body.runOnce() }) else {
      preconditionFailure("no thread can be started")
    }
    self.body = body
    handle = Guarded(thread)
  }

  /// Whether the closure has returned.
  var hasEnded: Bool { body.hasEnded.load(ordering: .acquiring) }

  /// Returns when the closure has. A second call does too. Not to be called from the thread itself.
  func join() {
    body.end.wait()
    body.end.signal()
    let thread = handle.withLock { value -> pthread_t? in
      defer { value = nil }
      return value
    }
    if let thread { pthread_join(thread, nil) }
  }

  /// Lets a blocking call of the thread return early with `EINTR`; harmless when the thread has ended.
  func interrupt(with signal: Int32) {
    handle.withLock { thread in
      // Under the lock it is not joined yet, so the handle is good even when the closure has returned.
      if let thread { _ = pthread_kill(thread, signal) }
    }
  }

  private final class Body: Sendable {
    let hasEnded = Atomic<Bool>(false)
    let end = DispatchSemaphore(value: 0)
    private let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    func runOnce() {
      run()
      hasEnded.store(true, ordering: .releasing)
      end.signal()
    }
  }
}
