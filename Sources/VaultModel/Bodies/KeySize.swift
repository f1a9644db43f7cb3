/// The sizes of keys and the like, in bytes.
enum KeySize {
  static let publicKey = 32
  /// Of X-Wing.
  static let agreementPublicKey = 1_216
  static let signature = 64
  static let salt = 16
  static let wrappedKey = 40
  static let nonce = 12
  static let tag = 16
  static let secret = 32
}
