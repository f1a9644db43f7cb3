import VaultModel

/// What the parts of a slot give, one after the other: a stretched password, a token's answer, a kept secret.
/// Docs/Format.md, section 14, "Slots".
package struct SlotSecret: ~Copyable, Sendable {
  /// What each part gives, in bytes.
  package static let partSize = 32

  private var secret = SecretBytes(count: 0)
  private var kinds: [UInt8] = []

  package init() {}

  /// Traps unless `part` has 32 bytes.
  package mutating func append(_ part: borrowing SecretBytes, of kind: UnlockPart.Kind) {
    precondition(part.count == Self.partSize, "a part of a slot gives 32 bytes")
    let count = secret.count
    var longer = SecretBytes(count: count + Self.partSize)
    longer.withUnsafeMutableBytes { output in
      secret.withUnsafeBytes { output.copyMemory(from: $0) }
      part.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: output[count...]).copyMemory(from: $0)
      }
    }
    secret = longer
    kinds.append(UInt8(kind.rawValue))
  }

  /// The key that wraps the device unlock key in this slot.
  package func kek(of slot: UnlockSlotID, binding: Binding) -> SlotKEK {
    SlotKEK(
      HKDF.derive(secret, info: binding.info(label: "slot-kek", context: slot.bytes + kinds)))
  }
}

/// The key that wraps a device unlock key in one slot.
package struct SlotKEK: ~Copyable, Sendable {
  fileprivate let secret: SecretBytes

  fileprivate init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// What unlocks this machine's private keys: 32 random bytes, in each slot under what opens that and, while unlocked,
/// in the session keyring.
package struct DeviceUnlockKey: ~Copyable, Sendable {
  package static let size = 32

  private let secret: SecretBytes

  /// Traps unless `secret` has 32 bytes.
  package init(_ secret: consuming SecretBytes) {
    precondition(secret.count == Self.size, "a device unlock key has 32 bytes")
    self.secret = secret
  }

  package static func random() -> DeviceUnlockKey {
    DeviceUnlockKey(SecretBytes(randomCount: size))
  }

  /// Wraps this key for a slot; gives 40 bytes.
  package func wrap(under key: borrowing SlotKEK) -> [UInt8] {
    KeyWrap.wrap(secret, under: key.secret)
  }

  /// The key of a slot; throws `unwrapFailed` if some part of it gave something else than when it was made (or the slot
  /// was altered: its checksum tells).
  package static func unwrap(_ wrapped: [UInt8], under key: borrowing SlotKEK)
    throws(CryptoError) -> DeviceUnlockKey
  {
    DeviceUnlockKey(try KeyWrap.unwrap(wrapped, under: key.secret))
  }

  /// Seals this machine's private keys.
  package func sealingKey(binding: Binding) -> SealingKey {
    SealingKey(secret.copy(), binding: binding)
  }

  /// Whether both are the same key.
  package func isSame(as other: borrowing DeviceUnlockKey) -> Bool {
    secret.constantTimeEquals(other.secret)
  }

  /// The bytes, to be handed to another process of this user; valid only during the call.
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try secret.withUnsafeBytes(body)
  }
}
