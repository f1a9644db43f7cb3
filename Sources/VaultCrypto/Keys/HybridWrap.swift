/// A key wrapped for whoever has an agreement key: X-Wing, HKDF with SHA-256, AES Key Wrap. Docs/Format.md, "Wraps".
enum HybridWrap {
  /// The first byte: a wrap of another suite is of a later program.
  static let suite: UInt8 = 1
  /// The suite, what X-Wing sends, and the wrapped key.
  static let byteCount = 1 + AgreementKey.encapsulatedSize + KeyWrap.wrappedSize

  /// Wraps a key of 32 bytes; `info` says what it is and for whom, and it does not unwrap as anything else.
  ///
  /// Throws `invalidKey` for a public key that must not be used.
  static func wrap(
    _ key: borrowing SecretBytes, for publicKey: [UInt8], info: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let agreed = try AgreementKey.agree(with: publicKey)
    let wrapKey = HKDF.derive(agreed.secret, salt: agreed.encapsulated + publicKey, info: info)
    return [suite] + agreed.encapsulated + KeyWrap.wrap(key, under: wrapKey)
  }

  /// Throws `malformed` for what is no wrap, or one of a suite that this program does not know, and `unwrapFailed` if it
  /// was made for another key or as another thing, or was altered.
  static func unwrap(
    _ wrap: [UInt8], with agreementKey: ExpandedAgreementKey, info: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    try requireSuite(wrap)
    let encapsulated = Array(wrap[1...AgreementKey.encapsulatedSize])
    let wrapKey = HKDF.derive(
      try agreementKey.secret(of: encapsulated), salt: encapsulated + agreementKey.publicKey,
      info: info)
    return try KeyWrap.unwrap(Array(wrap.suffix(KeyWrap.wrappedSize)), under: wrapKey)
  }

  /// Throws `malformed` for what cannot be a wrap, whoever it is for.
  static func requireSuite(_ wrap: [UInt8]) throws(CryptoError) {
    guard wrap.first == suite, wrap.count == byteCount else {
      throw .malformed(reason: "it is no wrap of a suite that this program knows")
    }
  }
}
