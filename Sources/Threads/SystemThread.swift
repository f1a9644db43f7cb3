import Glibc

/// Threads of the operating system, for work that waits: Dispatch has no more of them than there are processors.
package enum SystemThread {
  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs the body on a thread of its own, which somebody has to join; nil, with nothing done, if there is none to be had.
  package static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
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
      return nil
    }
    return thread
  }

  /// Runs the body on a thread that nobody waits for; false, with nothing done, if there is none to be had.
  ///
  /// A thread that has done its work waits a while for more: making one costs as much as reading a small file. So a body leaves
  /// the thread as it was.
  package static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
    if idle.take(body) { return true }
    let first = Guarded<(@Sendable () -> Void)?>(body)
    let thread = start {
      runAndForget(first)
      while idle.runNext() {}
    }
    guard let thread else { return false }
    pthread_detach(thread)
    return true
  }

  /// Has this thread do nothing for so long; signals do not shorten that.
  package static func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    var rest = timespec()
    while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
  }

  /// What a body holds, such as keys and locks, is let go of when it returns: the thread may go on for as long as there is work.
  private static func runAndForget(_ first: Guarded<(@Sendable () -> Void)?>) {
    let body = first.withLock { body -> (@Sendable () -> Void)? in
      defer { body = nil }
      return body
    }
    body?()
  }

  private static let idle = IdleThreads()
}

/// Threads that wait for work.
private final class IdleThreads: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var waitingCount = 0
  }

  private static let patience = Duration.seconds(5)

  private let state = Monitor(State())

  /// Gives a thread that waits something to do; false where none does.
  func take(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      guard state.waitingCount > state.work.count else { return false }
      state.work.append(body)
      return true
    }
    if isTaken { state.wakeOne() }
    return isTaken
  }

  /// Does the next work, and lets go of it; false when there was none for a while.
  func runNext() -> Bool {
    guard let work = wait() else { return false }
    work()
    return true
  }

  private func wait() -> (@Sendable () -> Void)? {
    let end = ContinuousClock.now + Self.patience
    state.withLock { $0.waitingCount += 1 }
    return state.wait { state in
      let left = end - .now
      if state.work.isEmpty, left > .zero { return .waitAtMost(left) }
      state.waitingCount -= 1
      return .answer(state.work.popLast())
    }
  }
}
