import CSodium

/// Bytes that nobody else may see: in memory apart from all other, kept out of swap and core dumps where the system allows
/// it (`SecretMemory`), zeroed when the value's life ends.
///
/// Cannot be copied by accident; `copy()` says so where it must be. For keys, not for content: more than 64 bytes cost some
/// ten microseconds and four pages. Traps when there is no memory at all. See libsodium, "Secure memory".
package struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Sendable: the memory has one owner, and is written only through `mutating` methods.
  private let memory: UnsafeMutableRawPointer
  package let count: Int

  /// `count` zeros; `count` must not be negative.
  package init(count: Int) {
    precondition(count >= 0, "a negative size")
    self.memory = SecretMemory.take(count)
    self.count = count
  }

  /// Random bytes of the system's generator.
  package init(randomCount count: Int) {
    self.init(count: count)
    randombytes_buf(memory, count)
  }

  /// A copy; the caller still has to erase the source.
  package init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
  }

  /// A copy of bytes that already stood in ordinary memory.
  package init(copying bytes: [UInt8]) {
    self.init(count: bytes.count)
    withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
  }

  deinit { SecretMemory.giveBack(memory, count) }

  /// The pointer must not be used after `body` returns.
  package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
  }

  /// The pointer must not be used after `body` returns.
  package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeMutableRawBufferPointer(start: memory, count: count))
  }

  /// A second secret with the same bytes.
  package func copy() -> SecretBytes {
    withUnsafeBytes { SecretBytes(copying: $0) }
  }

  /// The first `count` bytes as a secret of their own; `count` must not be greater than there are.
  package func prefix(_ count: Int) -> SecretBytes {
    withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// Whether both hold the same bytes; how long it takes depends on the sizes only.
  package func constantTimeEquals(_ other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    return sodium_memcmp(memory, other.memory, count) == 0
  }
}

/// libsodium, made ready before its first use.
enum Sodium {
  private static let isReady: Bool = sodium_init() >= 0

  /// May be called any number of times, from any thread.
  static func prepare() {
    guard isReady else { fatalError("libsodium does not start: no random numbers here") }
  }
}
