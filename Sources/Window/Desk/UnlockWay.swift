import VaultCrypto

/// A way to unlock the vault that is not a password alone: a token, the machine's TPM, what the desktop keeps.
package struct UnlockWay: Sendable {
  package let id: String
  /// As its person has called it.
  package let name: String
  package let asksForPassword: Bool
  package let asksForPIN: Bool
  package let asksForTouch: Bool

  package init(
    id: String, name: String, asksForPassword: Bool, asksForPIN: Bool, asksForTouch: Bool
  ) {
    (self.id, self.name) = (id, name)
    (self.asksForPassword, self.asksForPIN) = (asksForPassword, asksForPIN)
    self.asksForTouch = asksForTouch
  }
}

/// What somebody typed to unlock the vault; empty where nothing was asked for.
package struct UnlockAnswers: ~Copyable, Sendable {
  /// The id of the way; nil for the password alone.
  package let way: String?
  package let password: SecretBytes
  package let pin: SecretBytes

  init(way: String?, password: consuming SecretBytes, pin: consuming SecretBytes) {
    self.way = way
    self.password = password
    self.pin = pin
  }
}

/// The PIN was not that of the way.
package struct WrongPIN: Error {
  package init() {}
}
