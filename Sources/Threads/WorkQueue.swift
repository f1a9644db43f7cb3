/// Work that begets work, done by a few threads until none is left.
///
/// The newest item comes first, so that of a tree of work little waits at a time.
package final class WorkQueue<Item: Sendable>: Sendable {
  private struct State {
    var waiting: [Item] = []
    var busyCount = 0
    /// What is done with each while `run` is under way, and how many threads besides the caller's do it.
    var body: (@Sendable (Item) -> Void)?
    var helperCount = 0
    var isStopped = false
    /// Whether the work may add some: else nobody who finds none waits for those who still do theirs.
    var mayGrow = true
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

  /// Does everything that was added, and what it adds, on `threadCount` threads, of which the caller's is one. Nobody holds the
  /// body any more when it returns.
  package func run(threadCount: Int, _ body: @escaping @Sendable (Item) -> Void) {
    state.withLock { $0.body = body }
    // With fewer threads than asked for, the work is done by those there are.
    for _ in 1..<max(1, threadCount) {
      _ = SystemThread.detach { [self] in
        guard help() else { return }
        let isLast = state.withLock {
          $0.helperCount -= 1
          return $0.helperCount == 0
        }
        if isLast { state.wakeAll() }
      }
    }
    work(body)
    state.wait { state in
      if state.helperCount > 0 { return Monitor<State>.Look<Void>.wait }
      state.body = nil
      return .answer(())
    }
  }

  /// What a helper does.
  ///
  /// - Returns: False if it comes when all is done.
  private func help() -> Bool {
    let body = state.withLock { state in
      if state.body != nil { state.helperCount += 1 }
      return state.body
    }
    guard let body else { return false }
    work(body)
    return true
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
      let isOver = state.busyCount == 0 || state.isStopped || !state.mayGrow
      return isOver ? .answer(nil) : .wait
    }
  }

  /// Does the same with each of these items; on the caller's thread alone when there is one only.
  package static func forEach(
    _ items: [Item], threadCount: Int, _ body: @escaping @Sendable (Item) -> Void
  ) {
    let queue = WorkQueue()
    queue.state.withLock { $0.mayGrow = false }
    queue.add(items.reversed())
    queue.run(threadCount: min(threadCount, items.count), body)
  }
}
