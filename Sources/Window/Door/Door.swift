import Threads

/// Who is in: the browsers that came with a code. Safe to use from any thread.
final class Door: Sendable {
  /// A browser that was let in.
  struct Visitor: Hashable, Sendable {
    /// What its cookie says.
    let cookie: Secret
    /// What its forms say, which no other page can know.
    let form: Secret
    /// What the page says of itself to those that are open: whoever takes its port when it is over does not know it.
    let proof: Secret
  }

  static let cookieName = "kinvault"

  private struct State {
    var codes = EntryCodes()
    var visitors: [Visitor] = []
    var isClosed = false
  }

  private let state = Guarded(State())

  func launchCode() -> String { state.withLock { $0.codes.launch(at: .now) } }
  func typedCode() -> String { state.withLock { $0.codes.typed(at: .now) } }

  /// Whether anybody has come in yet.
  var hasVisitors: Bool { state.withLock { !$0.visitors.isEmpty } }

  /// Lets in whoever has a code.
  func enter(with code: String) -> Visitor? {
    state.withLock { state in
      guard !state.isClosed, state.codes.redeem(code, at: .now) else { return nil }
      let visitor = Visitor(cookie: .random(), form: .random(), proof: .random())
      state.visitors.append(visitor)
      return visitor
    }
  }

  /// Whose cookie this is.
  ///
  /// - Parameter cookies: The header, all of it.
  func visitor(cookies: [String]) -> Visitor? {
    let values = cookies.flatMap { $0.split(separator: ";") }.compactMap { part -> String? in
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      return pair.count == 2 && pair[0] == Self.cookieName ? String(pair[1]) : nil
    }
    return state.withLock { state in
      state.visitors.first { visitor in values.contains { visitor.cookie.matches($0) } }
    }
  }

  /// Nobody is in any more, and nobody gets in.
  func close() {
    state.withLock { state in
      state = State()
      state.isClosed = true
    }
  }
}
