/// A set of a member's links, by their number in the order of links.
struct LinkSet: Hashable, Sendable {
  private var words: [UInt64]

  /// The empty set of links numbered below `count`.
  init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

  func contains(_ link: Int) -> Bool { words[link >> 6] >> UInt64(link & 63) & 1 == 1 }

  /// Whether the link was not in the set.
  mutating func insert(_ link: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(link & 63)
    let isNew = words[link >> 6] & bit == 0
    words[link >> 6] |= bit
    return isNew
  }

  mutating func formUnion(_ other: LinkSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  mutating func formIntersection(_ other: LinkSet) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  /// How many links are in both.
  func commonCount(with other: LinkSet) -> Int {
    zip(words, other.words).reduce(0) { $0 + ($1.0 & $1.1).nonzeroBitCount }
  }
}
