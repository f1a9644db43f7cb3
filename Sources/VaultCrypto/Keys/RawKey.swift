import COpenSSL

/// An OpenSSL key made of the raw bytes of a public or private key, for one use.
///
/// OpenSSL's copy of a private key is in ordinary memory, and erased when this value's life ends.
struct RawKey: ~Copyable {
  enum Algorithm: String {
    case ed25519 = "ED25519"
  }

  let key: OpaquePointer

  /// `bytes` must be 32.
  init(private bytes: borrowing SecretBytes, _ algorithm: Algorithm) {
    key = bytes.withUnsafeBytes { bytes in
      mustExist(
        EVP_PKEY_new_raw_private_key_ex(
          nil, algorithm.rawValue, nil,
          bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), bytes.count))
    }
  }

  /// Nil unless `bytes` are a public key.
  init?(public bytes: [UInt8], _ algorithm: Algorithm) {
    guard bytes.count == 32,
      let key = EVP_PKEY_new_raw_public_key_ex(nil, algorithm.rawValue, nil, bytes, bytes.count)
    else {
      ERR_clear_error()
      return nil
    }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// 32 bytes.
  var publicBytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      count = 32
      mustSucceed(EVP_PKEY_get_raw_public_key(key, output.baseAddress, &count))
    }
  }
}
