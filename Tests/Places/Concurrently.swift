import Glibc
import Synchronization
import SystemPackage

/// Runs `body` on so many threads at once, and throws the first error that one of them met.
///
/// Real threads, not a pool's: each may block, and wait for another.
package func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failure = Failure()
  var threads: [pthread_t] = []
  for number in 0..<count {
    let work = Work {
      do {
        try body(number)
      } catch {
        failure.note(error)
      }
    }
    var thread = pthread_t()
    let refusal = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(work).toOpaque())
    guard refusal == 0 else { throw Errno(rawValue: refusal) }
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
  if let error = failure.first { throw error }
}

private final class Work: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private final class Failure: Sendable {
  private let error = Mutex<(any Error)?>(nil)
  var first: (any Error)? { error.withLock { $0 } }
  func note(_ error: any Error) { self.error.withLock { $0 = $0 ?? error } }
}
