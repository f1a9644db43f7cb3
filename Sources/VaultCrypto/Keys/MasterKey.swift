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

  /// Wraps this key for a device: the bytes of the wrap's file.
  ///
  /// Throws `invalidKey` for a device key that must not be used.
  package func wrap(
    for device: DeviceWrapContext, agreementPublicKey: [UInt8], binding: Binding
  ) throws(CryptoError) -> [UInt8] {
    try HybridWrap.wrap(secret, for: agreementPublicKey, info: device.info(binding))
  }

  /// The key in a wrap's file; throws `unwrapFailed` if it was made for another device or generation, or was altered, and
  /// `malformed` for what is no wrap, or one of a suite that is not known.
  package static func unwrap(
    _ file: [UInt8], for device: DeviceWrapContext, agreementKey: borrowing AgreementKey,
    binding: Binding
  ) throws(CryptoError) -> MasterKey {
    MasterKey(
      try HybridWrap.unwrap(file, with: agreementKey.expanded(), info: device.info(binding)))
  }

  /// Throws `malformed` for a file that is no wrap, whoever it is for.
  package static func requireWrap(_ file: [UInt8]) throws(CryptoError) {
    try HybridWrap.requireSuite(file)
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

/// Which generation and device a wrapped master key is for; it does not unwrap for another.
package struct DeviceWrapContext: Hashable, Sendable {
  package var person: PersonID
  /// The closing that opened it.
  package var generation: StatementID
  package var device: DeviceID

  /// The most bytes of a wrap's file, of whatever suite.
  package static let fileLimit = 2_048

  package init(person: PersonID, generation: StatementID, device: DeviceID) {
    self.person = person
    self.generation = generation
    self.device = device
  }

  fileprivate func info(_ binding: Binding) -> [UInt8] {
    binding.info(
      label: "device-wrap", context: person.bytes + generation.bytes + device.bytes)
  }
}
