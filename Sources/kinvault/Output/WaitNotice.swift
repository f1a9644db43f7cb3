import Glibc
import Threads

/// Says on standard error what a command waits for, once it has waited for a few seconds. Until then it may as well be done at
/// once.
final class WaitNotice: Sendable {
  private struct State {
    /// What is waited for and was not told yet.
    var text: String?
    var begin = ContinuousClock.now
    var isOver = false
  }

  private let patience: Duration
  private let tell: @Sendable (String) -> Void
  private let state = Monitor(State())

  init(
    patience: Duration = .seconds(3),
    tell: @escaping @Sendable (String) -> Void = { Terminal.note($0) }
  ) {
    self.patience = patience
    self.tell = tell
  }

  /// Runs `body`, which says by `waits` what it waits for. When it has returned nothing is told any more.
  func during<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    state.withLock { $0 = State() }
    // Where there is no thread to be had nothing is told.
    let thread = SystemThread.start { [self] in
      while let text = next() { tell(text) }
    }
    defer {
      state.change { $0.isOver = true }
      if let thread { pthread_join(thread, nil) }
    }
    return try body()
  }

  /// From now on this is waited for.
  func waits(for text: String) {
    state.change {
      $0.text = text
      $0.begin = .now
    }
  }

  /// What has been waited for long enough; nil when all is over.
  private func next() -> String? {
    state.wait { state in
      if state.isOver { return .answer(nil) }
      guard let text = state.text else { return .wait }
      let left = state.begin + patience - ContinuousClock.now
      if left > .zero { return .waitAtMost(left) }
      state.text = nil
      return .answer(text)
    }
  }
}
