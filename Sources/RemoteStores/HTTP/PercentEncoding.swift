/// Percent-encoding as RFC 3986 and Signature Version 4 want it: everything but letters, digits and `-._~`.
enum PercentEncoding {
  static func encode(_ text: some StringProtocol, keeping kept: String = "") -> String {
    let kept = Set(kept.utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) || kept.contains(byte) {
        result.append(byte)
      } else {
        result.append(UInt8(ascii: "%"))
        result.append(digits[Int(byte >> 4)])
        result.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Nil for a stray `%` or for what is not UTF-8 afterwards.
  static func decode(_ text: some StringProtocol) -> String? {
    var result: [UInt8] = []
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
      if byte != UInt8(ascii: "%") {
        result.append(byte)
        continue
      }
      guard let high = bytes.next().flatMap(value), let low = bytes.next().flatMap(value) else {
        return nil
      }
      result.append(high << 4 | low)
    }
    return String(validating: result, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
