/// Lowercase hexadecimal, the form of every name in the vault folder.
package enum Hex {
  // Every name of a file passes through here, so the loops are over plain pointers.

  package static func encode(_ bytes: [UInt8]) -> String {
    let count = bytes.count
    return bytes.withUnsafeBufferPointer { bytes in
      String(unsafeUninitializedCapacity: count * 2) { text in
        var position = 0
        while position < count {
          let byte = bytes[position]
          let (high, low) = (byte >> 4, byte & 15)
          text[position * 2] = high < 10 ? 48 + high : 87 + high
          text[position * 2 + 1] = low < 10 ? 48 + low : 87 + low
          position += 1
        }
        return count * 2
      }
    }
  }

  /// The bytes that the text spells; nil if it has an odd length or any character but `0-9a-f`.
  package static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { characters in
      guard characters.count.isMultiple(of: 2) else { return nil }
      let count = characters.count / 2
      // No digit has one of the upper four bits.
      var all: UInt8 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
        var position = 0
        while position < count {
          let high = digit(characters[position * 2])
          let low = digit(characters[position * 2 + 1])
          all |= high | low
          bytes[position] = high << 4 | low
          position += 1
        }
        initializedCount = count
      }
      return all < 16 ? bytes : nil
    }
  }

  /// 255 for what is none.
  private static func digit(_ character: UInt8) -> UInt8 {
    if character >= 48, character <= 57 { return character - 48 }
    return character >= 97 && character <= 102 ? character - 87 : 255
  }
}
