/// The escapes of `/proc/self/mountinfo`: a backslash and three octal digits stand for one byte.
enum OctalEscapes {
  /// The bytes that a field stands for. A backslash that starts no valid escape stands for itself.
  static func decode(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(field.count)
    var index = field.startIndex
    while index < field.endIndex {
      if let byte = escapedByte(field[index...]) {
        result.append(byte)
        index += 4
      } else {
        result.append(field[index])
        index += 1
      }
    }
    return result
  }

  /// A form of these bytes without blanks, control bytes and bare backslashes, so that it fits on a line.
  static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    for byte in bytes {
      if byte > 0x20, byte != UInt8(ascii: "\\"), byte != 0x7f {
        result.append(byte)
      } else {
        result.append(UInt8(ascii: "\\"))
        for shift in [6, 3, 0] { result.append(UInt8(ascii: "0") + (byte >> UInt8(shift)) & 7) }
      }
    }
    return result
  }

  private static func escapedByte(_ rest: ArraySlice<UInt8>) -> UInt8? {
    guard rest.count >= 4, rest.first == UInt8(ascii: "\\") else { return nil }
    var value = 0
    for digit in rest.dropFirst().prefix(3) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
      value = value * 8 + Int(digit - UInt8(ascii: "0"))
    }
    return UInt8(exactly: value)
  }
}
