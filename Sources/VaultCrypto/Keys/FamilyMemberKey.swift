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

  // MARK: Grants

  /// Wraps this key for the taker of a grant; gives 40 bytes.
  ///
  /// `giver` is the agreement key of the giver's generation, `taker` the public one of the taker's.
  /// Throws `invalidKey` or `weakPublicKey` for a public key that must not be used.
  package func wrap(
    giver: borrowing AgreementKey, taker: [UInt8], grant: GrantContext, binding: Binding
  ) throws(CryptoError) -> [UInt8] {
    KeyWrap.wrap(secret, under: try grant.wrapKey(giver, taker, binding))
  }

  /// Unwraps a grant's key. Throws as `wrap` does, and `unwrapFailed` if it was not made for
  /// exactly these keys and this grant.
  ///
  /// `own` and `other` are the two sides of the grant, in any order: the giver can open it, too.
  package static func unwrap(
    _ wrapped: [UInt8], own: borrowing AgreementKey, other: [UInt8], grant: GrantContext,
    binding: Binding
  ) throws(CryptoError) -> FamilyMemberKey {
    let wrapKey = try grant.wrapKey(own, other, binding)
    return FamilyMemberKey(try KeyWrap.unwrap(wrapped, under: wrapKey))
  }
}

/// Which grant a wrapped family member key belongs to; a key wrapped for one does not unwrap in
/// another.
package struct GrantContext: Hashable, Sendable {
  package var member: MemberID
  package var epoch: EpochID
  package var giver: PersonID
  package var taker: PersonID

  package init(member: MemberID, epoch: EpochID, giver: PersonID, taker: PersonID) {
    self.member = member
    self.epoch = epoch
    self.giver = giver
    self.taker = taker
  }

  fileprivate func wrapKey(
    _ own: borrowing AgreementKey, _ other: [UInt8], _ binding: Binding
  ) throws(CryptoError) -> SecretBytes {
    let context =
      bigEndianBytes(epoch.number) + epoch.owner.bytes + giver.bytes + taker.bytes
    return HKDF.derive(
      try own.sharedSecret(with: other), salt: member.bytes,
      info: binding.info(label: "grant-wrap", context: context))
  }
}
