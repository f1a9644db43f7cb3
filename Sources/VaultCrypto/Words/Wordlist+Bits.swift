/// Bytes as words, each 11 bits of them, the first bit the highest.
extension Wordlist {
  private static let bitsOfAWord = 11

  /// The first `count` words that the bytes make.
  static func words(_ count: Int, of bytes: UnsafeRawBufferPointer) -> [String] {
    (0..<count).map { word in
      let positions = word * bitsOfAWord..<(word + 1) * bitsOfAWord
      let index = positions.reduce(0) { index, bit in
        index << 1 | Int(bytes[bit / 8] >> UInt8(7 - bit % 8) & 1)
      }
      return english[index]
    }
  }

  /// The bytes that `count` words make as a person types them: any case, any blanks and line breaks between them, each
  /// word in full or at least its first four letters, with numbers before them or without. Bits that fill no byte are left out.
  ///
  /// - Throws: `unknownWord`, `wrongCount`.
  static func bytes(
    parsing text: some StringProtocol, count: Int
  ) throws(WordsError) -> SecretBytes {
    let words = Self.words(in: String(text), count: count)
    var indices: [Int] = []
    for (position, word) in words.prefix(count).enumerated() {
      guard let found = index(of: word) else {
        throw .unknownWord(position: position + 1, nearest: nearest(to: word))
      }
      indices.append(found)
    }
    guard words.count == count else { throw .wrongCount(found: words.count, expected: count) }
    var bytes = SecretBytes(count: count * bitsOfAWord / 8)
    bytes.withUnsafeMutableBytes { bytes in
      for (word, index) in indices.enumerated() {
        for bit in 0..<bitsOfAWord where index >> (bitsOfAWord - 1 - bit) & 1 == 1 {
          let position = word * bitsOfAWord + bit
          if position / 8 < bytes.count { bytes[position / 8] |= 0x80 >> UInt8(position % 8) }
        }
      }
    }
    return bytes
  }
}
