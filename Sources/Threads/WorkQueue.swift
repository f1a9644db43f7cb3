import Glibc

/// Work that begets work, done by a few threads until none is left.
///
/// The newest item comes first, so that of a tree of work little waits at a time.
package final class WorkQueue<Item: Sendable>: @unchecked Sendable {
  // Protects what stands below.
  private let monitor = Monitor()
  private var waiting: [Item] = []
  private var busyCount = 0
  private var isStopped = false

  package init() {}

  /// More to be done; may be called by the work itself.
  package func add(_ items: some Sequence<Item>) {
    let items = Array(items)
    if items.isEmpty { return }
    monitor.withLock { waiting += items }
    monitor.broadcast()
  }

  /// Nothing more is begun; `run` returns when what is under way is done.
  package func stop() {
    monitor.withLock {
      isStopped = true
      waiting = []
    }
    monitor.broadcast()
  }

  /// Does everything that was added, and what it adds, on `threadCount` threads, of which the caller's is one.
  package func run(threadCount: Int, _ body: @escaping @Sendable (Item) -> Void) {
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
      let isLast = monitor.withLock {
        busyCount -= 1
        return busyCount == 0
      }
      if isLast { monitor.broadcast() }
    }
  }

  /// The next item; waits while others may still add some; nil when all is done.
  private func next() -> Item? {
    monitor.withLock {
      while true {
        if !isStopped, let item = waiting.popLast() {
          busyCount += 1
          return item
        }
        if busyCount == 0 || isStopped { return nil }
        monitor.wait()
      }
    }
  }

  /// Does the same with each of these items; on the caller's thread alone when there is one only.
  package static func forEach(
    _ items: [Item], threadCount: Int, _ body: @escaping @Sendable (Item) -> Void
  ) {
    let queue = WorkQueue()
    queue.add(items.reversed())
    queue.run(threadCount: min(threadCount, items.count), body)
  }
}
