import COpenSSL

/// AES Key Wrap with a 256-bit key (RFC 3394): 32 bytes of key become 40, and only an unaltered one
/// comes back.
enum KeyWrap {
  static let keySize = 32
  static let wrappedSize = 40

  static func wrap(_ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes)
    -> [UInt8]
  {
    precondition(key.count == keySize, "only 32-byte keys are wrapped")
    return [UInt8](unsafeUninitializedCapacity: wrappedSize) { output, initializedCount in
      let isWrapped = key.withUnsafeBytes {
        run(wrapping: true, $0, under: wrappingKey, into: UnsafeMutableRawBufferPointer(output))
      }
      precondition(isWrapped, "OpenSSL failed to wrap a key")
      initializedCount = wrappedSize
    }
  }

  /// Throws `unwrapFailed` if `wrapped` was not made under this key, or was altered.
  static func unwrap(_ wrapped: [UInt8], under wrappingKey: borrowing SecretBytes)
    throws(CryptoError) -> SecretBytes
  {
    guard wrapped.count == wrappedSize else {
      throw .malformed(reason: "a wrapped key has 40 bytes, not \(wrapped.count)")
    }
    // OpenSSL writes no more than the key, but its documentation asks for room for a block more.
    var room = SecretBytes(count: keySize + 8)
    let isUnwrapped = room.withUnsafeMutableBytes { output in
      wrapped.withUnsafeBytes { run(wrapping: false, $0, under: wrappingKey, into: output) }
    }
    guard isUnwrapped else { throw .unwrapFailed }
    return room.prefix(keySize)
  }

  private static func run(
    wrapping: Bool, _ input: UnsafeRawBufferPointer, under wrappingKey: borrowing SecretBytes,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    precondition(wrappingKey.count == keySize, "a wrapping key has 32 bytes")
    let context = mustExist(EVP_CIPHER_CTX_new())
    defer { EVP_CIPHER_CTX_free(context) }
    EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
    let expected = wrapping ? wrappedSize : keySize
    var written: Int32 = 0
    return wrappingKey.withUnsafeBytes { key in
      mustSucceed(
        EVP_CipherInit_ex2(
          context, Algorithms.aes256Wrap, key.baseAddress!.assumingMemoryBound(to: UInt8.self),
          nil, wrapping ? 1 : 0, nil))
      let isDone = EVP_CipherUpdate(
        context, output.baseAddress!.assumingMemoryBound(to: UInt8.self), &written,
        input.baseAddress!.assumingMemoryBound(to: UInt8.self), Int32(input.count))
      if isDone != 1 { ERR_clear_error() }
      return isDone == 1 && Int(written) == expected
    }
  }
}
