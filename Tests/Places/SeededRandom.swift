/// SplitMix64: the same seed gives the same numbers on every machine.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

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
