import Glibc
import Synchronization

/// A thread of the operating system that runs one closure and can be waited for.
///
/// It blocks the signals that end a mount, so that only the thread that waits for them gets them.
final class MountThread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Starts a thread. Running out of threads is a broken invariant here: the mount has only just begun.
  init(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Body(body))
    let status = pthread_create(&thread, nil, Self.entry, box.toOpaque())
    guard status == 0 else { preconditionFailure("no thread: \(status)") }
    handle = Mutex(thread)
  }

  /// Returns when the closure has. A second call returns at once. Not to be called from the thread itself.
  func join() {
    let thread = handle.withLock { value -> pthread_t? in
      defer { value = nil }
      return value
    }
    if let thread { pthread_join(thread, nil) }
  }

  /// Lets a blocking call of the thread return early with `EINTR`; harmless when it has ended but was not joined.
  func interrupt(with signal: Int32) {
    handle.withLock { if let thread = $0 { _ = pthread_kill(thread, signal) } }
  }

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private static func entry(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
    return nil
  }
}
