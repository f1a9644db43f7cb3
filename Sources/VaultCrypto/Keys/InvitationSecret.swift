import VaultModel

/// The one-time secret of an invitation: 16 random bytes that two people hand over in person.
///
/// It proves to the one who invites that an introduction comes from the one who was invited.
package struct InvitationSecret: ~Copyable, Sendable {
  private let secret: SecretBytes

  /// Traps unless there are 16 bytes.
  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == OpenInvitation.secretByteCount, "a secret has 16 bytes")
    secret = SecretBytes(copying: bytes)
  }

  /// Tells which invitation an introduction answers, without telling the secret.
  package func id(binding: Binding) -> InvitationID {
    HKDF.derive(secret, info: binding.info(label: "invitation-id")).withUnsafeBytes { bytes in
      InvitationID(
        storage: Bytes8(
          exactly: UnsafeRawBufferPointer(rebasing: bytes[..<InvitationID.byteCount])))
    }
  }

  /// Seals the introduction that answers an invitation of `inviter`.
  package func sealingKey(inviter: PersonID, binding: Binding) -> SealingKey {
    SealingKey(
      HKDF.derive(secret, info: binding.info(label: "introduction", context: inviter.bytes)),
      binding: binding)
  }
}
