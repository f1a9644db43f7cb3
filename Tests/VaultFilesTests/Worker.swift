import Dispatch

/// A thread of a test.
final class Worker: Sendable {
  private let ended = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    let ended = ended
    DispatchQueue.global().async {
      body()
      ended.signal()
    }
  }

  func join() { ended.wait() }
}
