import CFullText

/// Every word that stands in an index, to find those that have another one inside: the parts of compounds.
struct Vocabulary {
  static let separator = UInt8(ascii: "\n")
  /// No more words than this stand for one that was typed, the shortest first: they are what it is the greatest part of.
  static let matchLimit = 100

  /// Each word with a separator after it; some may stand in it twice.
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  mutating func add(_ words: some Sequence<TextWord>) {
    for word in words {
      bytes += word.bytes
      bytes.append(Self.separator)
    }
  }

  /// The words that have this one in them, but not at their beginning.
  func words(containing word: [UInt8]) -> [String] {
    guard !word.isEmpty else { return [] }
    var found: Set<ArraySlice<UInt8>> = []
    bytes.withUnsafeBytes { all in
      var position = 0
      while let start = all.baseAddress,
        let hit = kv_find_bytes(start + position, all.count - position, word, word.count)
      {
        let offset = UnsafeRawPointer(hit) - start
        let first = all[..<offset].lastIndex(of: Self.separator).map { $0 + 1 } ?? 0
        let end = all[offset...].firstIndex(of: Self.separator) ?? all.count
        if first < offset { found.insert(bytes[first..<end]) }
        position = end
      }
    }
    let sorted = found.sorted { first, second in
      first.count != second.count
        ? first.count < second.count : first.lexicographicallyPrecedes(second)
    }
    return sorted.prefix(Self.matchLimit).map { String(decoding: $0, as: UTF8.self) }
  }
}
