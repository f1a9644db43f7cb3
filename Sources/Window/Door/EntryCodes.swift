/// The codes by which a browser is let in, each for one time and a short one. A value: time is told to it.
struct EntryCodes: Sendable {
  /// For a file that the browser opens by itself.
  static let launchTime = Duration.seconds(30)
  /// For somebody who types it.
  static let typingTime = Duration.seconds(300)
  /// After so many wrong ones those that are typed do not count any more.
  static let mistakeLimit = 5

  private struct Code {
    let secret: Secret
    let isTyped: Bool
    let end: ContinuousClock.Instant
  }

  private var codes: [Code] = []
  private var mistakes = 0

  /// A code for a file.
  mutating func launch(at now: ContinuousClock.Instant) -> String {
    add(.random(), isTyped: false, until: now + Self.launchTime)
  }

  /// A code to be typed, in two halves.
  mutating func typed(at now: ContinuousClock.Instant) -> String {
    mistakes = 0
    let text = add(.typed(), isTyped: true, until: now + Self.typingTime)
    return "\(text.prefix(5))-\(text.dropFirst(5))"
  }

  /// Whether this is one of them; it is none any more after that.
  mutating func redeem(_ text: String, at now: ContinuousClock.Instant) -> Bool {
    codes.removeAll { $0.end <= now }
    let typed = text.uppercased().filter { $0.isLetter || $0.isNumber }
    let found = codes.firstIndex { $0.secret.matches($0.isTyped ? typed : text) }
    if let found {
      codes.remove(at: found)
      return true
    }
    mistakes += 1
    if mistakes >= Self.mistakeLimit { codes.removeAll(where: \.isTyped) }
    return false
  }

  private mutating func add(
    _ secret: Secret, isTyped: Bool, until end: ContinuousClock.Instant
  ) -> String {
    codes.append(Code(secret: secret, isTyped: isTyped, end: end))
    return secret.text
  }
}
