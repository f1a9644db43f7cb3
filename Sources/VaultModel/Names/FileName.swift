/// The name of a file or directory: 1 to 255 bytes, without `/` and NUL, not `.` or `..`.
///
/// Any bytes that Linux allows, not only UTF-8; compared bytewise. Names of up to 23 bytes stand in
/// the value itself, and hashing and comparing them touches no other memory, so that directories
/// of 100,000 names are cheap.
package struct FileName: Sendable {
  // The first 23 bytes, big-endian, then zeros; the last byte is the length, or 255 when the name
  // is longer than that, and then `long` holds all of it. No name has a NUL, so comparing the words
  // compares the names.
  private let words: (UInt64, UInt64, UInt64)
  private let long: [UInt8]

  private static let inlineCount = 23
  private static let isLong: UInt64 = 255

  /// The file of a record that holds its text.
  package static let record = FileName(checked: Array("record.md".utf8))

  /// The name with these bytes; nil when no file can have it.
  package init?(_ bytes: some Collection<UInt8>) {
    guard (1...Limits.nameBytes).contains(bytes.count) else { return nil }
    var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    var position = 0
    for byte in bytes {
      guard byte != 0, byte != UInt8(ascii: "/") else { return nil }
      let shifted = UInt64(byte) << UInt64(56 - 8 * (position & 7))
      switch position >> 3 {
      case 0: words.0 |= shifted
      case 1: words.1 |= shifted
      case 2 where position < Self.inlineCount: words.2 |= shifted
      default: break
      }
      position += 1
    }
    let dot = UInt64(UInt8(ascii: ".")) << 56
    if words.0 == dot || words.0 == dot | dot >> 8 { return nil }
    if position <= Self.inlineCount {
      words.2 |= UInt64(position)
      long = []
    } else {
      words.2 |= Self.isLong
      long = Array(bytes)
    }
    self.words = words
  }

  /// The name with the UTF-8 bytes of `string`; nil when no file can have it.
  package init?(_ string: some StringProtocol) {
    self.init(string.utf8)
  }

  private init(checked bytes: [UInt8]) {
    guard let name = FileName(bytes) else { preconditionFailure("a literal is no file name") }
    self = name
  }

  /// 1 to 255.
  package var byteCount: Int {
    let mark = words.2 & 0xff
    return mark == Self.isLong ? long.count : Int(mark)
  }

  package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  /// The name as text; bytes that are not UTF-8 are shown as U+FFFD.
  package var string: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

  /// Calls `body` with the bytes, which are valid only during the call.
  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if words.2 & 0xff == Self.isLong { return long.withUnsafeBytes(body) }
    let bigEndian = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian)
    return Swift.withUnsafeBytes(of: bigEndian) {
      body(UnsafeRawBufferPointer(rebasing: $0[..<byteCount]))
    }
  }
}

extension FileName: Hashable {
  package static func == (lhs: FileName, rhs: FileName) -> Bool {
    lhs.words == rhs.words && lhs.long == rhs.long
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    if words.2 & 0xff == Self.isLong { hasher.combine(long) }
  }
}

extension FileName: Comparable {
  package static func < (lhs: FileName, rhs: FileName) -> Bool {
    if lhs.words != rhs.words { return lhs.words < rhs.words }
    return lhs.long.lexicographicallyPrecedes(rhs.long)
  }
}

extension FileName: CustomStringConvertible {
  package var description: String { string }
}
