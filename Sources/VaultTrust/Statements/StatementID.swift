import VaultCrypto
import VaultModel

// Docs/Format.md, "Statements".

extension StatementID {
  init(signedMessage: [UInt8]) { self.init(storage: Digest.sha256(signedMessage).storage) }
}

/// A public key of Ed25519: of a device, or of a person's words.
package struct VerifyingKey: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

extension MemberID {
  /// The member whose root this is.
  package init(root: StatementID) { self.init(storage: root.storage) }

  /// The member's root, which all its links come after.
  package var root: StatementID { StatementID(storage: storage) }
}

/// What a signature is for; part of every signed message.
package enum SignedLabel: String, Sendable, CaseIterable {
  case closing
  case certificate
  case root
  case link
  case head
  /// Of one record of one member.
  case revision
  /// An old root key names the one that takes over: part of a closing.
  case successor
  /// A key agrees to be a device of a person: part of a certificate.
  case device
}

extension VaultID {
  /// What is signed for `body`: valid in this vault and for this purpose only.
  package func signedMessage(_ label: SignedLabel, _ body: [UInt8]) -> [UInt8] {
    VaultDescription.labelPrefix + Array(label.rawValue.utf8) + [0] + bytes + body
  }

  /// The id of the statement with this body.
  package func statementID(_ label: SignedLabel, body: [UInt8]) -> StatementID {
    StatementID(signedMessage: signedMessage(label, body))
  }
}
