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

  /// What the members of an epoch know and nobody else does, for a server that is to learn nothing: 20 bytes.
  func doorbellTopic(member: MemberID, binding: Binding) -> [UInt8] {
    derive("doorbell", member: member, binding: binding).withUnsafeBytes { Array($0.prefix(20)) }
  }

  /// The epoch's key of one purpose.
  func derive(_ label: String, member: MemberID, binding: Binding) -> SecretBytes {
    HKDF.derive(secret, salt: member.bytes, info: binding.info(label: label))
  }

  // MARK: In this machine's state

  /// The key as this machine keeps it while its epoch is being begun.
  package func sealed(with key: SealingKey, path: String, counter: UInt64) -> Sealed {
    secret.withUnsafeBytes { bytes in
      var copy = Array(bytes)
      defer { wipe(&copy) }
      return key.seal(copy, label: .epoch, path: path, counter: counter)
    }
  }

  /// Throws as `SealingKey.open` does, and `malformed` for what has not the size of a key.
  package static func open(
    _ sealed: Sealed, with key: SealingKey, path: String, counter: UInt64
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
      var message = VaultDescription.labelPrefix + Array("epoch".utf8) + [0]
      message += binding.vault.bytes + member.bytes + key
      defer { wipe(&message) }
      return Digest.sha256(message)
    }
  }

  /// Wraps this key for a person's generation: the bytes of the wrap's file.
  ///
  /// Throws `invalidKey` for a public key that must not be used.
  package func wrap(
    for taker: EpochWrapContext, agreementPublicKey: [UInt8], binding: Binding
  ) throws(CryptoError) -> [UInt8] {
    try HybridWrap.wrap(secret, for: agreementPublicKey, info: taker.info(binding))
  }

  /// The key in a wrap's file; throws `unwrapFailed` if it was made for another generation or epoch, or was altered, and
  /// `malformed` for what is no wrap, or one of a suite that is not known.
  package static func unwrap(
    _ file: [UInt8], for taker: EpochWrapContext, agreementKey: ExpandedAgreementKey,
    binding: Binding
  ) throws(CryptoError) -> FamilyMemberKey {
    FamilyMemberKey(try HybridWrap.unwrap(file, with: agreementKey, info: taker.info(binding)))
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

  fileprivate func info(_ binding: Binding) -> [UInt8] {
    binding.info(
      label: "epoch-wrap",
      context: member.bytes + commitment.bytes + person.bytes + generation.bytes)
  }
}
