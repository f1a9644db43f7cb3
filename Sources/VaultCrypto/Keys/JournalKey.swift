import VaultModel

/// What opens the journal of one member, as it was written in one epoch, and nothing else: Docs/Format.md, section 13.
///
/// May be used from every thread.
package final class JournalKey: Sendable {
  private let secret: SecretBytes
  private let member: MemberID
  private let binding: Binding
  private let tagKey: HMACKey
  private let sealingKey: SealingKey

  init(_ secret: consuming SecretBytes, member: MemberID, binding: Binding) {
    func derive(_ label: String, of secret: borrowing SecretBytes) -> SecretBytes {
      HKDF.derive(secret, salt: member.bytes, info: binding.info(label: label))
    }
    tagKey = HMACKey(derive("journal-tag", of: secret))
    sealingKey = SealingKey(derive("journal-seal", of: secret), binding: binding)
    self.secret = secret
    self.member = member
    self.binding = binding
  }

  /// What a slot is found by; it tells nothing to whoever has not the key, also not that two are of one member.
  package func tag(of slot: Int, in device: DeviceID, first: UInt64) -> JournalTag {
    let message = device.bytes + bigEndianBytes(first) + bigEndianBytes(UInt64(slot))
    return withUnsafeTemporaryAllocation(byteCount: HMACKey.size, alignment: 8) { code in
      message.withUnsafeBytes { tagKey.authenticate($0, into: code) }
      let start = UnsafeRawBufferPointer(rebasing: code[..<JournalTag.byteCount])
      return JournalTag(storage: Bytes8(exactly: start))
    }
  }

  /// Seals a slot for the segment of this path and number only.
  package func seal(_ plaintext: [UInt8], path: String, first: UInt64) -> Sealed {
    sealingKey.seal(plaintext, label: .journal, path: path, counter: first)
  }

  /// Throws as `SealingKey.open` does.
  package func open(
    _ sealed: Sealed, path: String, first: UInt64
  ) throws(CryptoError) -> [UInt8] {
    try sealingKey.open(sealed, label: .journal, path: path, counter: first)
  }

  /// This key as a head of a later epoch says it: 40 bytes, the same every time.
  package func wrapped(under later: JournalKey) -> [UInt8] {
    KeyWrap.wrap(secret, under: later.pastKey)
  }

  /// The key of another epoch that a head of this one says; throws `unwrapFailed` if it says none.
  package func unwrap(_ wrapped: [UInt8]) throws(CryptoError) -> JournalKey {
    JournalKey(
      try KeyWrap.unwrap(wrapped, under: pastKey), member: member, binding: binding)
  }

  private var pastKey: SecretBytes {
    HKDF.derive(secret, salt: member.bytes, info: binding.info(label: "journal-past"))
  }
}
