import COpenSSL

/// A private key of Ed25519 (RFC 8032), of a device, or of a person's words.
package struct SigningKey: ~Copyable, Sendable {
  package static let size = 32
  package static let signatureSize = 64

  private let seed: SecretBytes
  /// 32 bytes.
  package let publicKey: [UInt8]

  /// Any 32 bytes are a private key; traps for another size.
  package init(seed: consuming SecretBytes) {
    precondition(seed.count == Self.size, "an Ed25519 key has 32 bytes")
    publicKey = RawKey(private: seed, .ed25519).publicBytes
    self.seed = seed
  }

  package static func random() -> SigningKey {
    SigningKey(seed: SecretBytes(randomCount: size))
  }

  /// The signature, 64 bytes, of a message that names its purpose and its vault.
  package func sign(_ message: [UInt8]) -> [UInt8] {
    let key = RawKey(private: seed, .ed25519)
    let context = mustExist(EVP_MD_CTX_new())
    defer { EVP_MD_CTX_free(context) }
    mustSucceed(EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key.key, nil))
    return [UInt8](unsafeUninitializedCapacity: Self.signatureSize) { output, count in
      count = Self.signatureSize
      mustSucceed(EVP_DigestSign(context, output.baseAddress, &count, message, message.count))
    }
  }
}

/// Whether the owner of the key signed this message, such as `Binding.signedMessage` gives.
///
/// Keys and signatures may have any size and content: for whatever is none it is false, and it never traps.
///
/// Statements are read again by everything that opens or compares a vault, and hashing one costs a hundredth of verifying
/// it: what was found valid in this process is remembered.
package func verifySignature(
  of message: [UInt8], signature: [UInt8], publicKey: [UInt8]
) -> Bool {
  guard signature.count == SigningKey.signatureSize, publicKey.count == SigningKey.size else {
    return false
  }
  // Both are of one size, so that no other three have the same hash.
  let all = Digest.sha256(publicKey + signature + message)
  if ValidSignatures.shared.holds(all) { return true }
  guard let key = RawKey(public: publicKey, .ed25519) else { return false }
  let context = mustExist(EVP_MD_CTX_new())
  defer { EVP_MD_CTX_free(context) }
  let isValid =
    EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key.key, nil) == 1
    && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  if isValid { ValidSignatures.shared.add(all) } else { ERR_clear_error() }
  return isValid
}
