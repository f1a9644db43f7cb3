import Glibc

/// Work that begets work, done by a few threads until none is left.
///
/// The newest item comes first, so that of a tree of work little waits at a time.
package final class WorkQueue<Item: Sendable>: Sendable {
  private struct State {
    var waiting: [Item] = []
    var busyCount = 0
    var isStopped = false
  }

  private let state = Monitor(State())

  package init() {}

  /// More to be done; may be called by the work itself.
  package func add(_ items: some Sequence<Item>) {
    let items = Array(items)
    if items.isEmpty { return }
    state.change { $0.waiting += items }
  }

  /// Nothing more is begun; `run` returns when what is under way is done.
  package func stop() {
    state.change {
      $0.isStopped = true
      $0.waiting = []
    }
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
      let isLast = state.withLock {
        $0.busyCount -= 1
        return $0.busyCount == 0
      }
      if isLast { state.wakeAll() }
    }
  }

  /// The next item; waits while others may still add some; nil when all is done.
  private func next() -> Item? {
    state.wait { state in
      if !state.isStopped, let item = state.waiting.popLast() {
        state.busyCount += 1
        return .answer(item)
      }
      return state.busyCount == 0 || state.isStopped ? .answer(nil) : .wait
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
