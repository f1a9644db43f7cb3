import Glibc

/// A lock with a condition to wait for.
///
/// For what a `Guarded` value cannot do: to wait under the lock, or to hold it beyond one closure.
package final class Monitor: @unchecked Sendable {
  // The pointers are set once; what they point at is made for use by several threads.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Runs the body with the lock held.
  package func withLock<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
    -> Value
  {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Waits for `broadcast`, with the lock held before and after; may also return without one.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Waits for `broadcast` for at most this long, with the lock held before and after.
  package func wait(atMost duration: Duration) {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let (seconds, attoseconds) = duration.components
    deadline.tv_sec += Int(seconds)
    deadline.tv_nsec += Int(attoseconds / 1_000_000_000)
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    pthread_cond_timedwait(condition, mutex, &deadline)
  }

  /// Wakes everyone who waits.
  package func broadcast() { pthread_cond_broadcast(condition) }
}
