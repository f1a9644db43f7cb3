import COpenSSL

/// A private key of X25519 (RFC 7748), of a device or a generation.
package struct AgreementKey: ~Copyable, Sendable {
  package static let size = 32

  private let privateKey: SecretBytes
  /// 32 bytes.
  package let publicKey: [UInt8]

  /// Any 32 bytes are a private key; traps for another size.
  package init(privateKey: consuming SecretBytes) {
    precondition(privateKey.count == Self.size, "an X25519 key has 32 bytes")
    publicKey = RawKey(private: privateKey, .x25519).publicBytes
    self.privateKey = privateKey
  }

  package static func random() -> AgreementKey {
    AgreementKey(privateKey: SecretBytes(randomCount: size))
  }

  /// The private key itself, to be sealed into the password slot.
  package func copyOfPrivateKey() -> SecretBytes { privateKey.copy() }

  /// What only the owners of the two private keys can compute.
  ///
  /// Throws `invalidKey` unless the public key has 32 bytes, and `weakPublicKey` if the result
  /// would be all zeros, which someone makes happen by sending a point of small order (RFC 7748,
  /// section 6.1).
  func sharedSecret(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
    let own = RawKey(private: privateKey, .x25519)
    guard let other = RawKey(public: publicKey, .x25519) else { throw .invalidKey }
    let context = mustExist(EVP_PKEY_CTX_new_from_pkey(nil, own.key, nil))
    defer { EVP_PKEY_CTX_free(context) }
    mustSucceed(EVP_PKEY_derive_init(context))
    var shared = SecretBytes(count: Self.size)
    var size = Self.size
    let isDerived = shared.withUnsafeMutableBytes { output in
      EVP_PKEY_derive_set_peer(context, other.key) == 1
        && EVP_PKEY_derive(
          context, output.baseAddress!.assumingMemoryBound(to: UInt8.self), &size) == 1
    }
    if !isDerived { ERR_clear_error() }
    guard isDerived, size == Self.size,
      !shared.constantTimeEquals(SecretBytes(count: Self.size))
    else { throw .weakPublicKey }
    return shared
  }
}
