/// A random text that lets in whoever has it.
struct Secret: Hashable, Sendable {
  let text: String

  /// 256 bits, as hexadecimal digits.
  static func random() -> Secret { Secret(letters: Array("0123456789abcdef"), count: 64) }

  /// 50 bits, in letters and digits that nobody takes for one another, to be typed: `K7QF2-9MXTA`.
  static func typed() -> Secret {
    let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    return Secret(letters: letters, count: 10)
  }

  private init(letters: [Character], count: Int) {
    var random = SystemRandomNumberGenerator()
    text = String(
      (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
  }

  /// Whether this is it; takes as long for every text of its length.
  func matches(_ other: String) -> Bool {
    let (own, other) = (Array(text.utf8), Array(other.utf8))
    guard own.count == other.count else { return false }
    return zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
