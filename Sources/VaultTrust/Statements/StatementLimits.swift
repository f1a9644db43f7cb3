import VaultModel

/// The limits of `Docs/Format.md`, section 17.
enum StatementLimits {
  static let closingBytes = 1 << 20
  static let linkBytes = 1 << 18
  static let certificateBytes = 8_192
  static let rootBytes = 1_024
  static let headBytes = 1 << 20

  static let closingFollows = 64
  static let linkFollows = 1_024
  static let endorsements = 16
  static let replacedKeys = 256
  static let places = 1_024
  /// How often a member is judged anew as nobody would hold a place.
  static let stays = 64
  static let staying = 1_024
  static let counted = 16_384
  static let authored = Limits.headLists
  static let retracted = 1_024
  static let changes = 64
  static let wraps = 1_024
  static let confirmed = 4_096

  static let agreementKeyBytes = 2_048
  static let recoveryBytes = 512
  static let approvalBytes = 512
}
