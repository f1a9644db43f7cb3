/// The form in which a device's private keys are sealed in its `DeviceFile`.
///
/// The bytes are secret, so nothing here copies them: the caller owns the memory that they are
/// written to and read in. They are a `DeviceKeys` message; it always has this length.
package enum DeviceKeys {
  /// The two keys, each with a tag and a length of one byte.
  package static let encodedByteCount = 2 * (2 + KeySize.secret)

  private static let signingSeedTag: UInt8 = 1 << 3 | 2
  private static let agreementKeyTag: UInt8 = 2 << 3 | 2

  /// Writes the message to `output`, which has `encodedByteCount` bytes; each key has 32.
  package static func encode(
    signingSeed: UnsafeRawBufferPointer, agreementPrivateKey: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(output.count == encodedByteCount)
    var position = 0
    for (tag, key) in [(signingSeedTag, signingSeed), (agreementKeyTag, agreementPrivateKey)] {
      precondition(key.count == KeySize.secret)
      output[position] = tag
      output[position + 1] = UInt8(KeySize.secret)
      let start = position + 2
      UnsafeMutableRawBufferPointer(rebasing: output[start..<start + key.count]).copyMemory(
        from: key)
      position = start + key.count
    }
  }

  /// Where the keys stand in an encoded message: parts of `bytes`, valid as long as it is.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(ModelError) -> (
    signingSeed: UnsafeRawBufferPointer, agreementPrivateKey: UnsafeRawBufferPointer
  ) {
    try Limits.check(bytes.count, Limits.signedFileBytes, "device keys")
    var reader = WireReader(bytes, what: "device keys")
    var (seed, key): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): seed = try reader.bytesInPlace()
      case .bytes(2): key = try reader.bytesInPlace()
      default: _ = try reader.skip(tag)
      }
    }
    guard let seed, let key, seed.count == KeySize.secret, key.count == KeySize.secret else {
      throw reader.malformed("a key is missing or not 32 bytes")
    }
    return (seed, key)
  }
}
