import Glibc
import Vault

/// Work that begets work, done by a few threads until none is left.
///
/// The newest item comes first, so that of a tree of work little waits at a time.
final class WorkQueue<Item: Sendable>: @unchecked Sendable {
  // The pointers are set once and made for several threads; what stands below them is protected by the mutex.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var waiting: [Item] = []
  private var busyCount = 0
  private var isStopped = false

  init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// More to be done; may be called by the work itself.
  func add(_ items: some Sequence<Item>) {
    pthread_mutex_lock(mutex)
    waiting.append(contentsOf: items)
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Nothing more is begun; `run` returns when what is under way is done.
  func stop() {
    pthread_mutex_lock(mutex)
    isStopped = true
    waiting = []
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Does everything that was added, and what it adds, on `threadCount` threads, of which the caller's is one.
  func run(threadCount: Int, _ body: @escaping @Sendable (Item) -> Void) {
    // With fewer threads than asked for, the work is done by those there are.
    let helpers = (1..<max(1, threadCount)).compactMap { _ in
      SystemThread.start { self.work(body) }
    }
    work(body)
    for helper in helpers { pthread_join(helper, nil) }
  }

  private func work(_ body: (Item) -> Void) {
    while let item = next() {
      body(item)
      pthread_mutex_lock(mutex)
      busyCount -= 1
      if busyCount == 0 { pthread_cond_broadcast(condition) }
      pthread_mutex_unlock(mutex)
    }
  }

  /// The next item; waits while others may still add some; nil when all is done.
  private func next() -> Item? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if !isStopped, let item = waiting.popLast() {
        busyCount += 1
        return item
      }
      if busyCount == 0 || isStopped { return nil }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Does the same with each of these items; on the caller's thread alone when there is one only.
  static func forEach(
    _ items: [Item], threadCount: Int, _ body: @escaping @Sendable (Item) -> Void
  ) {
    let queue = WorkQueue()
    queue.add(items.reversed())
    queue.run(threadCount: min(threadCount, items.count), body)
  }
}
