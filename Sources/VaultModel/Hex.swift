/// Lowercase hexadecimal, the form of every name in the vault folder.
package enum Hex {
  // Every name of a file passes through here, so the loops are over plain arrays and pointers.

  package static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      guard var next = buffer.baseAddress else { return 0 }
      for byte in bytes {
        next.initialize(to: character(byte >> 4))
        (next + 1).initialize(to: character(byte & 15))
        next += 2
      }
      return bytes.count * 2
    }
  }

  private static func character(_ digit: UInt8) -> UInt8 { digit < 10 ? 48 + digit : 87 + digit }

  /// The bytes that the text spells; nil if it has an odd length or any character but `0-9a-f`.
  package static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 2)
    for position in stride(from: 0, to: characters.count, by: 2) {
      guard let high = digit(characters[position]), let low = digit(characters[position + 1])
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
