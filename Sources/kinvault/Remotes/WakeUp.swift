import Glibc

/// Lets one thread wait until another has news. A signal that nobody waits for is kept.
final class WakeUp: @unchecked Sendable {
  // Protected by `mutex`; both live at an address of their own for as long as this does.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSignalled = false

  init() {
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

  func signal() {
    pthread_mutex_lock(mutex)
    isSignalled = true
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Returns at a signal, or after this time.
  func wait(atMost time: Duration) {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let (seconds, attoseconds) = time.components
    deadline.tv_sec += Int(clamping: max(0, min(seconds, 1 << 30)))
    deadline.tv_nsec += max(0, Int(attoseconds / 1_000_000_000))
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    pthread_mutex_lock(mutex)
    while !isSignalled, pthread_cond_timedwait(condition, mutex, &deadline) == 0 {}
    isSignalled = false
    pthread_mutex_unlock(mutex)
  }
}

/// Threads that nobody joins.
enum DetachedThread {
  /// Runs `body` on a thread of its own.
  static func start(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
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
      preconditionFailure("no thread can be started: \(failure)")
    }
    pthread_detach(thread)
  }
}
