import Glibc
import Threads
import Vault

/// The clockwork of the background thread: says when to commit and when to look for what others committed.
final class Committer: Sendable {
  enum Task: Equatable {
    case commit
    case poll
    case stop
  }

  private struct Clockwork {
    var changedSince: ContinuousClock.Instant?
    var lastPoll = ContinuousClock.now
    var isStopping = false
    var thread: pthread_t?
  }

  private let clockwork = Monitor(Clockwork())

  /// Something is to be committed. Cheap; the tree lock may be held.
  func noteChange() {
    let isFirst = clockwork.withLock {
      guard $0.changedSince == nil else { return false }
      $0.changedSince = .now
      return true
    }
    if isFirst { clockwork.wakeAll() }
  }

  /// Waits for the next thing to do.
  func nextTask(commitDelay: Duration, pollInterval: Duration) -> Task {
    clockwork.wait { clockwork in
      if clockwork.isStopping { return .answer(.stop) }
      let now = ContinuousClock.now
      let commitTime = clockwork.changedSince.map { $0 + commitDelay }
      let pollTime = clockwork.lastPoll + pollInterval
      if let commitTime, commitTime <= now {
        clockwork.changedSince = nil
        return .answer(.commit)
      }
      if pollTime <= now {
        clockwork.lastPoll = now
        return .answer(.poll)
      }
      return .waitAtMost(min(commitTime ?? pollTime, pollTime) - now)
    }
  }

  /// Runs `body` on a thread of its own; does nothing if there is one.
  func start(_ body: @escaping @Sendable () -> Void) {
    clockwork.withLock { clockwork in
      guard clockwork.thread == nil else { return }
      clockwork.isStopping = false
      guard let created = SystemThread.start(body) else {
        preconditionFailure("no thread can be started")
      }
      clockwork.thread = created
    }
  }

  /// Has `nextTask` say `stop`, and waits for the thread to end.
  func stop() {
    let running = clockwork.change { clockwork in
      defer { clockwork.thread = nil }
      clockwork.isStopping = true
      return clockwork.thread
    }
    if let running { pthread_join(running, nil) }
  }
}
