/// A fixed number of bytes with a meaning of its own: an id, a name, a hash.
///
/// Stored inline, without a heap allocation, so that hundreds of thousands of them are cheap.
package protocol FixedBytes: Hashable, Comparable, Sendable, BitwiseCopyable,
  CustomStringConvertible
{
  associatedtype Storage: FixedStorage
  var storage: Storage { get }
  init(storage: Storage)
}

extension FixedBytes {
  /// The number of bytes of every value of this type.
  package static var byteCount: Int { Storage.byteCount }

  // Of plain arrays and texts: generic ones are not specialized where another module calls them, and every name of a
  // file passes through here.

  /// The value with these bytes; nil unless there are exactly `byteCount` of them.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Storage.byteCount else { return nil }
    self.init(storage: Storage(exactly: bytes))
  }

  package init?(_ bytes: ArraySlice<UInt8>) { self.init([UInt8](bytes)) }

  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Storage.byteCount else { return nil }
    self.init(storage: Storage(exactly: bytes))
  }

  /// The value that this lowercase hexadecimal text names; nil for any other text.
  package init?(hex: String) {
    guard let bytes = Hex.decode(hex) else { return nil }
    self.init(bytes)
  }

  package init?(hex: Substring) { self.init(hex: String(hex)) }

  /// The value whose bytes are all zero.
  package static var zero: Self { Self(storage: Storage()) }

  package var bytes: [UInt8] { storage.bytes }

  /// The first eight bytes as a big-endian number.
  package var firstWord: UInt64 {
    withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
  }

  /// Calls `body` with the bytes, which are valid only during the call. Allocates nothing.
  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    storage.withUnsafeBytes(body)
  }

  /// Lowercase hexadecimal, two digits a byte.
  package var hex: String { Hex.encode(storage.bytes) }

  /// The first eight hexadecimal digits: enough for a person to tell two apart, not for a machine.
  package var shortHex: String { String(hex.prefix(8)) }

  package var description: String { shortHex }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.storage < rhs.storage }
}

/// The inline storage behind a `FixedBytes` type: big-endian words, so that comparing words
/// compares bytes.
package protocol FixedStorage: Hashable, Comparable, Sendable, BitwiseCopyable {
  static var byteCount: Int { get }
  /// The storage whose bytes are all zero.
  init()
  /// The storage with the `byteCount` bytes at `pointer`, which needs no alignment.
  init(loadingFrom pointer: UnsafeRawPointer)
  /// Calls `body` with the bytes, which are valid only during the call.
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension FixedStorage {
  /// The storage with exactly these bytes; there must be `byteCount` of them.
  package init(exactly bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Self(exactly: $0) }
  }

  /// The storage with exactly these bytes; there must be `byteCount` of them.
  package init(exactly bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.byteCount)
    self.init(loadingFrom: bytes.baseAddress!)
  }

  package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  func append(to bytes: inout [UInt8]) {
    withUnsafeBytes { bytes.append(contentsOf: $0) }
  }
}

private func word(_ pointer: UnsafeRawPointer, _ index: Int) -> UInt64 {
  UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
}

package struct Bytes8: FixedStorage {
  private let word0: UInt64
  package static var byteCount: Int { 8 }

  package init() { word0 = 0 }

  package init(loadingFrom pointer: UnsafeRawPointer) {
    word0 = word(pointer, 0)
  }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Swift.withUnsafeBytes(of: word0.bigEndian, body)
  }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.word0 < rhs.word0 }
}

package struct Bytes16: FixedStorage {
  private let high: UInt64
  private let low: UInt64
  package static var byteCount: Int { 16 }

  package init() { (high, low) = (0, 0) }

  package init(loadingFrom pointer: UnsafeRawPointer) {
    high = word(pointer, 0)
    low = word(pointer, 1)
  }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Swift.withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
  }

  package static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.high, lhs.low) < (rhs.high, rhs.low)
  }
}

package struct Bytes32: FixedStorage {
  private let words: (UInt64, UInt64, UInt64, UInt64)
  package static var byteCount: Int { 32 }

  package init() { words = (0, 0, 0, 0) }

  package init(loadingFrom pointer: UnsafeRawPointer) {
    words = (word(pointer, 0), word(pointer, 1), word(pointer, 2), word(pointer, 3))
  }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let bigEndian = (
      words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian
    )
    return Swift.withUnsafeBytes(of: bigEndian, body)
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
