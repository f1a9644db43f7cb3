import Glibc
import Synchronization

/// Threads of the operating system's, more than there are processors: what blocks one must not block another.
package enum Threads {
  /// Runs `body` on that many threads at once, with their numbers from 0, and waits for all of them. Throws the first
  /// error that one of them met.
  package static func run(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Void
  ) throws {
    let failure = Failure()
    let threads = (0..<count).map { number in
      start {
        do { try body(number) } catch { failure.note(error) }
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    if let error = failure.first { throw error }
  }

  private final class Failure: Sendable {
    private let error = Mutex<(any Error)?>(nil)
    var first: (any Error)? { error.withLock { $0 } }
    func note(_ error: any Error) { self.error.withLock { $0 = $0 ?? error } }
  }

  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    let error = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
      }, work)
    precondition(error == 0, "no thread")
    return thread
  }
}
