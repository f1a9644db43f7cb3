import Glibc

/// A value that one thread at a time may look at.
///
/// What `Mutex` of Swift's Synchronization is, over a mutex of POSIX threads. Swift's own inherits priorities on Linux: the
/// kernel hands it from waiter to waiter, so that once two threads wait, every further call spins and then sleeps, though
/// the lock is held for a microsecond. With 32 threads that costs a hundred times as much: Docs/Benchmarks.md, "Locks".
///
/// Public, as the compiler does not inline what is `package` into another module: each use of the lock would go through
/// a generic function and two thunks.
public final class Guarded<Value: ~Copyable>: @unchecked Sendable {
  // The pointers are set once; what the second one points to is only touched while the mutex is held.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  package init(_ value: consuming sending Value) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "no mutex can be made: \(status)")
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the value; others wait meanwhile. It must not be called from within `body` again.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
