import Glibc
import Threads
import Vault

/// The clockwork of the background thread: says when to commit and when to look for what others committed.
final class Committer: @unchecked Sendable {
  enum Task: Equatable {
    case commit
    case poll
    case stop
  }

  // Everything below is protected by `monitor`.
  private let monitor = Monitor()
  private var changedSince: ContinuousClock.Instant?
  private var lastPoll = ContinuousClock.now
  private var isStopping = false
  private var thread: pthread_t?

  /// Something is to be committed. Cheap; the tree lock may be held.
  func noteChange() {
    monitor.withLock {
      guard changedSince == nil else { return }
      changedSince = .now
      monitor.broadcast()
    }
  }

  /// Waits for the next thing to do.
  func nextTask(commitDelay: Duration, pollInterval: Duration) -> Task {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if isStopping { return .stop }
      let now = ContinuousClock.now
      let commitTime = changedSince.map { $0 + commitDelay }
      let pollTime = lastPoll + pollInterval
      if let commitTime, commitTime <= now {
        changedSince = nil
        return .commit
      }
      if pollTime <= now {
        lastPoll = now
        return .poll
      }
      monitor.wait(atMost: min(commitTime ?? pollTime, pollTime) - now)
    }
  }

  /// Runs `body` on a thread of its own; does nothing if there is one.
  func start(_ body: @escaping @Sendable () -> Void) {
    monitor.lock()
    defer { monitor.unlock() }
    guard thread == nil else { return }
    isStopping = false
    guard let created = SystemThread.start(body) else {
      preconditionFailure("no thread can be started")
    }
    thread = created
  }

  /// Has `nextTask` say `stop`, and waits for the thread to end.
  func stop() {
    let running = monitor.withLock {
      defer { thread = nil }
      isStopping = true
      monitor.broadcast()
      return thread
    }
    if let running { pthread_join(running, nil) }
  }
}
