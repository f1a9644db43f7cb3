import CSodium

/// HKDF with SHA-256 (RFC 5869).
enum HKDF {
  /// Extract and expand: `count` bytes (at most 8,160) that only who has `key` can compute.
  static func derive(
    _ key: UnsafeRawBufferPointer, salt: [UInt8] = [], info: [UInt8], count: Int = 32
  ) -> SecretBytes {
    var pseudorandomKey = SecretBytes(count: HMACKey.size)
    // RFC 5869: no salt means 32 zeros, which HMAC pads an empty key to.
    let extractor = salt.withUnsafeBytes { HMACKey($0) }
    pseudorandomKey.withUnsafeMutableBytes { extractor.authenticate(key, into: $0) }
    let expander = HMACKey(pseudorandomKey)
    var output = SecretBytes(count: count)
    output.withUnsafeMutableBytes { bytes in
      info.withUnsafeBytes { expand(expander, info: $0, into: bytes) }
    }
    return output
  }

  static func derive(
    _ key: borrowing SecretBytes, salt: [UInt8] = [], info: [UInt8], count: Int = 32
  ) -> SecretBytes {
    key.withUnsafeBytes { derive($0, salt: salt, info: info, count: count) }
  }

  /// Expand alone, from a key that is pseudorandom already; fills `output` (at most 8,160 bytes).
  ///
  /// Quick: one HMAC for every 32 bytes, and no allocation.
  static func expand(
    _ key: HMACKey, info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(output.count <= 255 * HMACKey.size, "HKDF gives at most 8,160 bytes")
    let messageSize = HMACKey.size + info.count + 1
    withUnsafeTemporaryAllocation(byteCount: messageSize + HMACKey.size, alignment: 8) { scratch in
      // message = T(i-1) ‖ info ‖ i, and T(i) after it.
      let message = UnsafeMutableRawBufferPointer(rebasing: scratch[..<messageSize])
      let block = UnsafeMutableRawBufferPointer(rebasing: scratch[messageSize...])
      UnsafeMutableRawBufferPointer(rebasing: message[HMACKey.size..<messageSize - 1])
        .copyMemory(from: info)
      var position = 0
      var number: UInt8 = 1
      while position < output.count {
        message[messageSize - 1] = number
        let start = number == 1 ? HMACKey.size : 0
        key.authenticate(UnsafeRawBufferPointer(rebasing: message[start...]), into: block)
        let length = min(HMACKey.size, output.count - position)
        UnsafeMutableRawBufferPointer(rebasing: output[position..<position + length])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<length]))
        message.copyMemory(from: UnsafeRawBufferPointer(block))
        position += length
        number &+= 1
      }
      sodium_memzero(scratch.baseAddress!, scratch.count)
    }
  }
}
