import VaultCrypto
import VaultModel

/// The form of this machine's small state files: a title with the version, lines of words, and a checksum of all of
/// it. Docs/Format.md, "This machine's state".
///
/// What parts lines and words are the bytes 0A and 20, never characters: a text that begins with a combining mark or
/// ends with a carriage return would make one character with them.
package struct ChecksummedLines {
  private let lines: [Substring]

  /// The bytes of a file. No line may have a line feed in it.
  package static func encode(title: String, _ lines: [String]) -> [UInt8] {
    var text: [UInt8] = []
    for line in [title] + lines {
      precondition(!line.utf8.contains(lineFeed), "a line is one line")
      text += Array(line.utf8) + [lineFeed]
    }
    return text + checksum(of: text)
  }

  /// Whether these bytes are not as somebody wrote them: what another version wrote is whole.
  package static func isTorn(_ bytes: [UInt8]) -> Bool { text(of: bytes) == nil }

  /// Nil for what is torn, changed, or has another title.
  package init?(decoding bytes: [UInt8], title: String) {
    guard let text = Self.text(of: bytes),
      text.last == Self.lineFeed, let content = String(validating: text.dropLast(), as: UTF8.self)
    else { return nil }
    let lines = Self.split(content[...], at: Self.lineFeed)
    guard lines.first == title[...] else { return nil }
    self.lines = Array(lines.dropFirst())
  }

  /// The words of every line, at most so many a line: the last one is all the rest, with its spaces.
  package func words(upTo count: Int) -> [[Substring]] {
    lines.map { Self.split($0, at: UInt8(ascii: " "), maxSplits: count - 1) }
  }

  /// What stands behind these keys, where there is a line for each of them in this order, and no other line.
  package func values(of keys: String...) -> [Substring]? {
    let words = words(upTo: 2)
    guard words.compactMap(\.first) == keys.map({ $0[...] }), words.allSatisfy({ $0.count == 2 })
    else {
      return nil
    }
    return words.map { $0[1] }
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let checksumByteCount = checksum(of: []).count

  /// What stands before the checksum; nil where that is another one's.
  private static func text(of bytes: [UInt8]) -> [UInt8]? {
    let text = Array(bytes.dropLast(checksumByteCount))
    return Array(bytes.suffix(checksumByteCount)) == checksum(of: text) ? text : nil
  }

  private static func checksum(of text: [UInt8]) -> [UInt8] {
    Array("sum \(Digest.sha256(text).hex)\n".utf8)
  }

  private static func split(
    _ text: Substring, at byte: UInt8, maxSplits: Int = .max
  ) -> [Substring] {
    text.utf8.split(separator: byte, maxSplits: maxSplits, omittingEmptySubsequences: false)
      .map { Substring($0) }
  }
}

extension Sealed {
  /// As it stands in a line of a state file: the nonce and the ciphertext, both in hexadecimal digits.
  package var words: String { "\(Hex.encode(nonce)) \(Hex.encode(ciphertext))" }

  package init?(words: Substring) {
    let parts = words.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let nonce = Hex.decode(String(parts[0])),
      nonce.count == 12, let ciphertext = Hex.decode(String(parts[1])), ciphertext.count >= 16
    else { return nil }
    self.init(nonce: nonce, ciphertext: ciphertext)
  }
}
