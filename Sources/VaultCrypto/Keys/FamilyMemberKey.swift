import VaultModel

/// The key of one member in one epoch (FMK): 32 random bytes, wrapped for each person with access.
package struct FamilyMemberKey: ~Copyable, Sendable {
  private let secret: SecretBytes

  /// Traps unless `secret` has 32 bytes.
  package init(_ secret: consuming SecretBytes) {
    precondition(secret.count == KeyWrap.keySize, "a family member key has 32 bytes")
    self.secret = secret
  }

  /// The key of a new epoch.
  package static func random() -> FamilyMemberKey {
    FamilyMemberKey(SecretBytes(randomCount: KeyWrap.keySize))
  }

  /// Tells which epoch's key seals a file, without naming the epoch.
  package func keyID(member: MemberID, binding: Binding) -> KeyID {
    derive("key-id", member: member, binding: binding).withUnsafeBytes { bytes in
      KeyID(storage: Bytes8(exactly: UnsafeRawBufferPointer(rebasing: bytes[..<KeyID.byteCount])))
    }
  }

  /// The epoch's key of one purpose.
  func derive(_ label: String, member: MemberID, binding: Binding) -> SecretBytes {
    HKDF.derive(secret, salt: member.bytes, info: binding.info(label: label))
  }

  // MARK: In this machine's state

  /// The key as this machine keeps it while its epoch is being begun.
  package func sealed(with key: SealingKey, path: String, counter: UInt64) -> SealedValue {
    secret.withUnsafeBytes { bytes in
      var copy = Array(bytes)
      defer { wipe(&copy) }
      return key.seal(copy, label: .epoch, path: path, counter: counter)
    }
  }

  /// Throws as `SealingKey.open` does, and `malformed` for what has not the size of a key.
  package static func open(
    _ sealed: SealedValue, with key: SealingKey, path: String, counter: UInt64
  ) throws(CryptoError) -> FamilyMemberKey {
    var bytes = try key.open(sealed, label: .epoch, path: path, counter: counter)
    defer { wipe(&bytes) }
    guard bytes.count == KeyWrap.keySize else {
      throw .malformed(reason: "a key of \(bytes.count) bytes")
    }
    return FamilyMemberKey(SecretBytes(copying: bytes))
  }

  // MARK: Wraps

  /// What a link that begins an epoch says its key is, without telling it.
  package func commitment(member: MemberID, binding: Binding) -> FileHash {
    secret.withUnsafeBytes { key in
      var message = Array("kinvault/2/epoch".utf8) + [0] + binding.vault.bytes + member.bytes + key
      defer { wipe(&message) }
      return Digest.sha256(message)
    }
  }

  /// Wraps this key for a person's generation, with a new ephemeral key that is then forgotten.
  ///
  /// Throws `invalidKey` or `weakPublicKey` for a public key that must not be used.
  package func wrap(
    for taker: EpochWrapContext, agreementPublicKey: [UInt8], binding: Binding
  ) throws(CryptoError) -> [UInt8] {
    let ephemeral = AgreementKey.random()
    let wrapKey = taker.wrapKey(
      try ephemeral.sharedSecret(with: agreementPublicKey), ephemeral: ephemeral.publicKey,
      taker: agreementPublicKey, binding)
    return [EpochWrapContext.suite] + ephemeral.publicKey + KeyWrap.wrap(secret, under: wrapKey)
  }

  /// The key in a wrap's file; throws `unwrapFailed` if it was made for another generation or epoch, `malformed` for what
  /// is no wrap, or one of a suite that is not known.
  package static func unwrap(
    _ file: [UInt8], for taker: EpochWrapContext, agreementKey: borrowing AgreementKey,
    binding: Binding
  ) throws(CryptoError) -> FamilyMemberKey {
    guard file.first == EpochWrapContext.suite, file.count == EpochWrapContext.byteCount else {
      throw .malformed(reason: "it is no wrap of a suite that this program knows")
    }
    let ephemeral = Array(file[1...AgreementKey.size])
    let wrapKey = taker.wrapKey(
      try agreementKey.sharedSecret(with: ephemeral), ephemeral: ephemeral,
      taker: agreementKey.publicKey, binding)
    return FamilyMemberKey(
      try KeyWrap.unwrap(Array(file.dropFirst(1 + AgreementKey.size)), under: wrapKey))
  }
}

/// Which epoch's key a wrap holds, and for which generation of whom; it does not unwrap for another.
package struct EpochWrapContext: Hashable, Sendable {
  package var member: MemberID
  /// To the epoch's key.
  package var commitment: FileHash
  package var person: PersonID
  /// The closing that opened it.
  package var generation: StatementID

  /// X25519, HKDF-SHA-256, AES-KW; the first byte of a wrap's file.
  static let suite: UInt8 = 1
  /// The bytes of a wrap's file of this suite.
  static let byteCount = 1 + AgreementKey.size + KeyWrap.wrappedSize
  /// The most bytes of a wrap's file, of whatever suite.
  package static let fileLimit = 2_048

  package init(
    member: MemberID, commitment: FileHash, person: PersonID, generation: StatementID
  ) {
    self.member = member
    self.commitment = commitment
    self.person = person
    self.generation = generation
  }

  fileprivate func wrapKey(
    _ shared: borrowing SecretBytes, ephemeral: [UInt8], taker publicKey: [UInt8],
    _ binding: Binding
  ) -> SecretBytes {
    let context = member.bytes + commitment.bytes + person.bytes + generation.bytes
    return HKDF.derive(
      shared, salt: ephemeral + publicKey, info: binding.info(label: "epoch-wrap", context: context)
    )
  }
}
