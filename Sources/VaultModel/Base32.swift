/// Bytes as capital letters and the digits 2 to 7 (RFC 4648, section 6), without padding.
package enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    var buffer: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        digits.append(alphabet[Int(buffer >> UInt32(bitCount) & 31)])
      }
      buffer &= 1 << UInt32(bitCount) - 1
    }
    if bitCount > 0 { digits.append(alphabet[Int(buffer << UInt32(5 - bitCount) & 31)]) }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Nil for anything but what `encode` gives.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bitCount = 0
    for digit in text.utf8 {
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      buffer = buffer << 5 | UInt32(value)
      bitCount += 5
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(buffer >> UInt32(bitCount) & 255))
      }
      buffer &= 1 << UInt32(bitCount) - 1
    }
    // The bits left over are zeros, and fewer than a digit has.
    return bitCount < 5 && buffer == 0 ? bytes : nil
  }
}
