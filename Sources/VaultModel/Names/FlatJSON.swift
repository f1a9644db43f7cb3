/// Reads a JSON object of texts and whole numbers: as much JSON as `vault.json` needs.
///
/// Strict: no nesting, no escapes in texts, no sign, fraction or exponent, no key twice, nothing
/// after the object.
struct FlatJSON {
  enum Value: Hashable {
    case string(String)
    case number(UInt64)
  }

  private let bytes: [UInt8]
  private let what: String
  private var position = 0

  static func parse(
    _ bytes: [UInt8], what: String
  ) throws(ModelError) -> [String: Value] {
    var json = FlatJSON(bytes: bytes, what: what)
    return try json.object()
  }

  private init(bytes: [UInt8], what: String) {
    self.bytes = bytes
    self.what = what
  }

  private mutating func object() throws(ModelError) -> [String: Value] {
    var values: [String: Value] = [:]
    try expect("{")
    if !skip("}") {
      repeat {
        let key = try string()
        try expect(":")
        guard values.updateValue(try value(), forKey: key) == nil else {
          throw malformed("a key stands twice")
        }
      } while skip(",")
      try expect("}")
    }
    skipSpace()
    guard position == bytes.count else { throw malformed("something follows the object") }
    return values
  }

  private mutating func value() throws(ModelError) -> Value {
    skipSpace()
    if current == UInt8(ascii: "\"") { return .string(try string()) }
    let start = position
    while let digit = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      position += 1
    }
    let digits = bytes[start..<position]
    guard digits.count == 1 || digits.first != UInt8(ascii: "0"),
      let number = UInt64(String(decoding: digits, as: UTF8.self))
    else { throw malformed("a value is neither a text nor a whole number") }
    return .number(number)
  }

  private mutating func string() throws(ModelError) -> String {
    try expect("\"")
    let start = position
    while let byte = current, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20, byte != UInt8(ascii: "\\") else {
        throw malformed("a text has an escape or a control character")
      }
      position += 1
    }
    let text = String(validating: bytes[start..<position], as: UTF8.self)
    guard current != nil, let text else { throw malformed("a text has no end, or is not UTF-8") }
    position += 1
    return text
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(ModelError) {
    guard skip(character) else { throw malformed("\(character) is missing") }
  }

  private func malformed(_ reason: String) -> ModelError {
    .malformed(what: what, reason: reason)
  }
}
