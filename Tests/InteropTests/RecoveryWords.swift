import Foundation

/// BIP 39 in English, 24 words: eleven bits a word, of which the last eight are a checksum.
struct RecoveryWords {
  /// The 32 bytes that the words stand for.
  let entropy: [UInt8]

  /// Reads 24 words against `wordlist`, the 2,048 words in their order.
  init(_ text: String, wordlist: [String]) throws {
    try Refused.unless(wordlist.count == 2048, "a list of \(wordlist.count) words")
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    try Refused.unless(words.count == 24, "\(words.count) words")
    var bits: [UInt8] = []
    for word in words {
      guard let index = wordlist.firstIndex(of: word) else { throw Refused("no word: \(word)") }
      bits += (0..<11).reversed().map { UInt8(index >> $0 & 1) }
    }
    let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | $1 }
    }
    entropy = Array(bytes.prefix(32))
    try Refused.unless(entropy.sha256[0] == bytes[32], "the checksum of the words")
  }

  /// The words between the quotes of a Swift file.
  static func wordlist(inSource source: String) throws -> [String] {
    let parts = source.components(separatedBy: "\"\"\"")
    try Refused.unless(parts.count == 3, "not one multi-line literal")
    return parts[1].split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
