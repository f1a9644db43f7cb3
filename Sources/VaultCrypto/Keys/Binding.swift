import VaultModel

/// Ties every derived key, signature and sealed value to one vault, one version of the format and
/// one purpose: Docs/Format.md, "Binding" and "5. Signed files".
package struct Binding: Hashable, Sendable {
  package let vault: VaultID

  package init(vault: VaultID) { self.vault = vault }

  /// The `info` of HKDF for the purpose that `label` names.
  package func info(label: String, context: [UInt8] = []) -> [UInt8] {
    prefix(label) + context
  }

  /// What is signed for a file: its label and path are part of it, so that it is valid nowhere
  /// else.
  package func signedMessage(_ label: FileLabel, path: String, body: [UInt8]) -> [UInt8] {
    return prefix(label.rawValue) + Digest.sha256(Array(path.utf8)).bytes + body
  }

  /// The additional data of a value sealed in a file.
  func additionalData(_ label: FileLabel, path: String, counter: UInt64) -> [UInt8] {
    Array(label.rawValue.utf8) + [0] + vault.bytes + Array(path.utf8) + bigEndianBytes(counter)
  }

  private func prefix(_ label: String) -> [UInt8] {
    VaultDescription.labelPrefix + Array(label.utf8) + [0] + vault.bytes
  }
}

/// Which kind of signed or sealed file a signature or a sealed value is for. What is signed with one of these has none of
/// the labels of statements (`SignedLabel`), or a signature for the one could be taken for one for the other.
package enum FileLabel: String, Sendable, CaseIterable {
  /// The approval in a certificate: not a file.
  case certificate
  case request
  case deviceRegister = "device-register"
  case introduction
  case head
  case audit
  /// A part of a member's journal in an audit segment: not signed by itself.
  case journal
  /// This machine's private keys, in its state: not signed, but sealed.
  case deviceKeys = "device-keys"
  /// Credentials of a remote, in this machine's state: not signed either.
  case remote
  /// The key of an epoch that is being begun, in this machine's state.
  case epoch
  /// A redo record, in this machine's state.
  case redo
  /// The names under which members show, in this machine's state.
  case shown
  /// Events that are in no segment of the log yet, in this machine's state.
  case waiting
  /// What this machine has derived from a member's records, in its state.
  case derived
}

/// The bytes of a number, the most significant first.
func bigEndianBytes(_ value: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
