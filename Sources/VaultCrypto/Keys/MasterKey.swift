import VaultModel

/// A person's key of one generation: 32 random bytes, of which the generation's keys are derived.
package struct MasterKey: ~Copyable, Sendable {
  private let secret: SecretBytes

  /// Traps unless `secret` has 32 bytes.
  init(_ secret: consuming SecretBytes) {
    precondition(secret.count == KeyWrap.keySize, "a master key has 32 bytes")
    self.secret = secret
  }

  /// The key of a new generation.
  package static func random() -> MasterKey {
    MasterKey(SecretBytes(randomCount: KeyWrap.keySize))
  }

  // MARK: Derived keys

  /// Gives and takes family member keys in this generation: the closing that opened it has the public key.
  package func agreementKey(binding: Binding) -> AgreementKey {
    AgreementKey(privateKey: derive("identity-agreement", binding))
  }

  /// Seals the device registers of this generation.
  package func profileKey(binding: Binding) -> SealingKey {
    SealingKey(derive("profile", binding), binding: binding)
  }

  /// Seals the audit segments of this generation.
  package func auditKey(binding: Binding) -> SealingKey {
    SealingKey(derive("audit", binding), binding: binding)
  }

  private func derive(_ label: String, _ binding: Binding) -> SecretBytes {
    HKDF.derive(secret, info: binding.info(label: label))
  }

  // MARK: The generation before

  /// Wraps the master key of the generation before under this one; gives 40 bytes.
  package func wrapPrevious(_ previous: borrowing MasterKey, binding: Binding) -> [UInt8] {
    KeyWrap.wrap(previous.secret, under: derive("history", binding))
  }

  /// The master key of the generation before; throws `unwrapFailed` if it is not under this one.
  package func unwrapPrevious(_ wrapped: [UInt8], binding: Binding) throws(CryptoError)
    -> MasterKey
  {
    MasterKey(try KeyWrap.unwrap(wrapped, under: derive("history", binding)))
  }

  // MARK: Devices

  /// Wraps this key for a device, with a new ephemeral key that is then forgotten.
  ///
  /// Throws `invalidKey` or `weakPublicKey` for a device key that must not be used.
  package func wrap(for device: DeviceWrapContext, agreementPublicKey: [UInt8], binding: Binding)
    throws(CryptoError) -> WrappedMasterKey
  {
    let ephemeral = AgreementKey.random()
    let wrapKey = device.wrapKey(
      try ephemeral.sharedSecret(with: agreementPublicKey),
      ephemeral: ephemeral.publicKey, device: agreementPublicKey, binding)
    return WrappedMasterKey(
      ephemeralPublicKey: ephemeral.publicKey, wrapped: KeyWrap.wrap(secret, under: wrapKey))
  }

  /// The key that was wrapped for this device; throws `unwrapFailed` if it was for another one, or
  /// another generation, or was altered.
  package static func unwrap(
    _ wrapped: WrappedMasterKey, for device: DeviceWrapContext,
    agreementKey: borrowing AgreementKey, binding: Binding
  ) throws(CryptoError) -> MasterKey {
    let wrapKey = device.wrapKey(
      try agreementKey.sharedSecret(with: wrapped.ephemeralPublicKey),
      ephemeral: wrapped.ephemeralPublicKey, device: agreementKey.publicKey, binding)
    return MasterKey(try KeyWrap.unwrap(wrapped.wrapped, under: wrapKey))
  }

  // MARK: Recovery

  /// Wraps this key for the recovery slot; gives 40 bytes.
  package func wrap(for seed: borrowing RecoverySeed, binding: Binding) -> [UInt8] {
    KeyWrap.wrap(secret, under: seed.wrapKey(binding: binding))
  }

  /// The key of the recovery slot; throws `unwrapFailed` if the words are others, or it was
  /// altered.
  package static func unwrap(_ wrapped: [UInt8], seed: borrowing RecoverySeed, binding: Binding)
    throws(CryptoError) -> MasterKey
  {
    MasterKey(try KeyWrap.unwrap(wrapped, under: seed.wrapKey(binding: binding)))
  }

  /// Whether both are the same key.
  package func isSame(as other: borrowing MasterKey) -> Bool {
    secret.constantTimeEquals(other.secret)
  }
}

/// A master key as it stands in a wrap for a device.
package struct WrappedMasterKey: Hashable, Sendable {
  /// X25519, 32 bytes.
  package var ephemeralPublicKey: [UInt8]
  /// 40 bytes.
  package var wrapped: [UInt8]

  /// Of a wrap's file.
  package static let byteCount = AgreementKey.size + KeyWrap.wrappedSize

  package init(ephemeralPublicKey: [UInt8], wrapped: [UInt8]) {
    self.ephemeralPublicKey = ephemeralPublicKey
    self.wrapped = wrapped
  }

  /// The file's bytes: the public key, then the wrapped one.
  package var bytes: [UInt8] { ephemeralPublicKey + wrapped }

  /// What a file of this content wraps; nil if it has another size.
  package init?(file: [UInt8]) {
    guard file.count == Self.byteCount else { return nil }
    self.init(
      ephemeralPublicKey: Array(file.prefix(AgreementKey.size)),
      wrapped: Array(file.dropFirst(AgreementKey.size)))
  }
}

/// Which generation and device a wrapped master key is for; it does not unwrap for another.
package struct DeviceWrapContext: Hashable, Sendable {
  package var person: PersonID
  /// The closing that opened it.
  package var generation: StatementID
  package var device: DeviceID

  package init(person: PersonID, generation: StatementID, device: DeviceID) {
    self.person = person
    self.generation = generation
    self.device = device
  }

  fileprivate func wrapKey(
    _ shared: borrowing SecretBytes, ephemeral: [UInt8], device publicKey: [UInt8],
    _ binding: Binding
  ) -> SecretBytes {
    HKDF.derive(
      shared, salt: ephemeral + publicKey,
      info: binding.info(
        label: "device-wrap",
        context: person.bytes + generation.bytes + device.bytes))
  }
}
