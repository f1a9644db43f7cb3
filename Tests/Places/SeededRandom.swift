import TestSupport

/// Numbers and bytes that are the same for the same seed on every machine.
package struct SeededRandom: RandomNumberGenerator {
  private var numbers: SplitMix64

  package init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  package mutating func next() -> UInt64 { numbers.next() }

  /// Bytes that do not repeat.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var offset = 0
      while offset < count {
        let word = next()
        if offset + 8 <= count {
          bytes.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
        } else {
          withUnsafeBytes(of: word) { tail in
            for (index, byte) in tail.prefix(count - offset).enumerated() {
              bytes[offset + index] = byte
            }
          }
        }
        offset += 8
      }
      initialized = count
    }
  }

  /// Bytes for a test that does not care which.
  package static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    return random.bytes(count)
  }
}
