/// A fixed number of bytes with a meaning of its own: an id, a name, a hash.
///
/// Stored inline, without a heap allocation, so that hundreds of thousands of them are cheap.
package protocol FixedBytes: Hashable, Comparable, Sendable, CustomStringConvertible {
  associatedtype Storage: FixedStorage
  var storage: Storage { get }
  init(storage: Storage)
}

extension FixedBytes {
  /// The number of bytes of every value of this type.
  package static var byteCount: Int { Storage.byteCount }

  /// The value with these bytes; nil unless there are exactly `byteCount` of them.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Storage.byteCount else { return nil }
    self.init(storage: Storage(exactly: bytes))
  }

  /// The value that this lowercase hexadecimal text names; nil for any other text.
  package init?(hex: some StringProtocol) {
    guard let bytes = Hex.decode(hex) else { return nil }
    self.init(bytes)
  }

  package var bytes: [UInt8] { storage.bytes }

  /// Lowercase hexadecimal, two digits a byte.
  package var hex: String { Hex.encode(storage.bytes) }

  /// The first eight hexadecimal digits: enough for a person to tell two apart, not for a machine.
  package var shortHex: String { String(hex.prefix(8)) }

  package var description: String { shortHex }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.storage < rhs.storage }
}

/// The inline storage behind a `FixedBytes` type: big-endian words, so that comparing words
/// compares bytes.
package protocol FixedStorage: Hashable, Comparable, Sendable {
  static var byteCount: Int { get }
  init(exactly bytes: some Collection<UInt8>)
  var bytes: [UInt8] { get }
}

/// Reads one big-endian word from the next eight bytes.
private func nextWord(_ iterator: inout some IteratorProtocol<UInt8>) -> UInt64 {
  var word: UInt64 = 0
  for _ in 0..<8 { word = word << 8 | UInt64(iterator.next() ?? 0) }
  return word
}

private func append(_ word: UInt64, to bytes: inout [UInt8]) {
  for shift in stride(from: 56, through: 0, by: -8) {
    bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
  }
}

package struct Bytes8: FixedStorage {
  private let word: UInt64
  package static var byteCount: Int { 8 }

  package init(exactly bytes: some Collection<UInt8>) {
    var iterator = bytes.makeIterator()
    word = nextWord(&iterator)
  }

  package var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(8)
    append(word, to: &result)
    return result
  }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.word < rhs.word }
}

package struct Bytes16: FixedStorage {
  private let high: UInt64
  private let low: UInt64
  package static var byteCount: Int { 16 }

  package init(exactly bytes: some Collection<UInt8>) {
    var iterator = bytes.makeIterator()
    high = nextWord(&iterator)
    low = nextWord(&iterator)
  }

  package var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(16)
    append(high, to: &result)
    append(low, to: &result)
    return result
  }

  package static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.high, lhs.low) < (rhs.high, rhs.low)
  }
}

package struct Bytes32: FixedStorage {
  private let words: (UInt64, UInt64, UInt64, UInt64)
  package static var byteCount: Int { 32 }

  package init(exactly bytes: some Collection<UInt8>) {
    var iterator = bytes.makeIterator()
    words = (
      nextWord(&iterator), nextWord(&iterator), nextWord(&iterator), nextWord(&iterator)
    )
  }

  package var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(32)
    append(words.0, to: &result)
    append(words.1, to: &result)
    append(words.2, to: &result)
    append(words.3, to: &result)
    return result
  }

  package static func == (lhs: Self, rhs: Self) -> Bool { lhs.words == rhs.words }
  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.words < rhs.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
