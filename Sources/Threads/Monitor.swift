import Glibc

/// A value that one thread at a time may look at, and of which threads wait until something becomes of it.
///
/// `Guarded`, with a condition. The lock cannot be held beyond a closure, and waiting is a loop of looks, since others
/// change the value meanwhile. Public for the same reason.
public final class Monitor<Value: ~Copyable>: @unchecked Sendable {
  // The pointer is set once; what it points at is made for use by several threads.
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  @usableFromInline let guarded: Guarded<Value>

  package init(_ value: consuming sending Value) {
    guarded = Guarded(value)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  /// Runs `body` with the value, and wakes nobody. It must not be called from within `body` again.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try guarded.withLock(body)
  }

  /// Runs `body` with the value, and wakes everyone who waits, so that they look again.
  @inlinable
  public func change<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    defer { wakeAll() }
    return try guarded.withLock(body)
  }

  /// Has everyone who waits look again.
  @inlinable
  public func wakeAll() { pthread_cond_broadcast(condition) }

  /// Has one of those look again who wait; all of them wait for the same.
  package func wakeOne() { pthread_cond_signal(condition) }

  /// What a look at the value came to.
  package enum Look<Answer> {
    case answer(Answer)
    /// Look again after the next change; maybe earlier.
    case wait
    /// Look again after the next change, and after this time at the latest.
    case waitAtMost(Duration)
  }

  /// Looks at the value until there is an answer. The lock is free between two looks.
  package func wait<Answer, Failure: Error>(
    for look: (inout sending Value) throws(Failure) -> sending Look<Answer>
  ) throws(Failure) -> sending Answer {
    pthread_mutex_lock(guarded.mutex)
    defer { pthread_mutex_unlock(guarded.mutex) }
    while true {
      switch try look(&guarded.value.pointee) {
      case .answer(let answer): return answer
      case .wait: pthread_cond_wait(condition, guarded.mutex)
      case .waitAtMost(let time): sleep(atMost: time)
      }
    }
  }

  /// The lock is held before and after.
  private func sleep(atMost duration: Duration) {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let (seconds, attoseconds) = duration.components
    deadline.tv_sec += Int(seconds)
    deadline.tv_nsec += Int(attoseconds / 1_000_000_000)
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    pthread_cond_timedwait(condition, guarded.mutex, &deadline)
  }
}
