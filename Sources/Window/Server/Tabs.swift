import Threads

/// The pages that are open in browsers and listen for news. Safe to use from any thread.
final class Tabs: Sendable {
  enum Event: Sendable {
    /// Something in the vault has changed; its new version.
    case changed(UInt64)
    case locked
    /// It will be locked in a minute if nobody does anything.
    case soon
    /// How far something long has come.
    case work(String)
    /// Nothing: whether somebody still listens is known by writing to them.
    case still
  }

  private struct State {
    var next = 0
    var tabs: [Int: AsyncStream<Event>.Continuation] = [:]
    /// When the last one went; nil while there is one, and before there was any.
    var emptySince: ContinuousClock.Instant?
  }

  private let state = Guarded(State())

  var isEmpty: Bool { state.withLock { $0.tabs.isEmpty } }
  var emptySince: ContinuousClock.Instant? { state.withLock { $0.emptySince } }

  /// What one page is told, until it goes.
  func open() -> (events: AsyncStream<Event>, close: @Sendable () -> Void) {
    let (events, continuation) = AsyncStream<Event>.makeStream()
    let number = state.withLock { state in
      state.next += 1
      state.tabs[state.next] = continuation
      state.emptySince = nil
      return state.next
    }
    let close: @Sendable () -> Void = { [self] in
      continuation.finish()
      state.withLock { state in
        guard state.tabs.removeValue(forKey: number) != nil, state.tabs.isEmpty else { return }
        state.emptySince = .now
      }
    }
    return (events, close)
  }

  func tell(_ event: Event) {
    for tab in state.withLock({ Array($0.tabs.values) }) { tab.yield(event) }
  }
}
