/// What a form or the end of an address says: names with values, `application/x-www-form-urlencoded`.
struct FormValues: Sendable {
  private var values: [String: String] = [:]

  /// Of a name that comes twice the first value counts.
  init(_ encoded: String) {
    for pair in encoded.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), values[name] == nil else { continue }
      values[name] = parts.count > 1 ? Self.decoded(parts[1]) : ""
    }
  }

  /// Nil for what is not there, or is no text.
  subscript(name: String) -> String? { values[name] }

  /// A value as it was sent; nil for what is not there, is no text, or is empty.
  func given(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// A text as it may stand in an address or in a header: all but a few letters, digits and signs as `%` with two digits.
  static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      return isPlain || "-._~".utf8.contains(byte)
        ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// Nil for what is no text in UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    let encoded = Array(text.utf8)
    var bytes: [UInt8] = []
    var position = 0
    while position < encoded.count {
      switch encoded[position] {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = encoded[(position + 1)...].prefix(2)
        guard digits.count == 2,
          let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(byte)
        position += 2
      case let byte: bytes.append(byte)
      }
      position += 1
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
