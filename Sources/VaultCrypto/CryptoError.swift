import VaultModel

/// Why something could not be opened, unwrapped or derived. Holds no secret.
package enum CryptoError: Error, Hashable, Sendable {
  /// The bytes were altered or cut, stand under another name or path, or the key is another one.
  case authenticationFailed
  /// A wrapped key does not unwrap: the wrapping key (so the password or the words) is another
  /// one, or the wrapped key was altered.
  case unwrapFailed
  /// The bytes cannot be what they should be, whatever the key.
  case malformed(reason: String)
  /// The object says a version of the format that this program does not know.
  case unsupportedVersion(found: UInt8)
  /// The object is of another kind than what named it.
  case wrongKind(found: UInt8, expected: ObjectKind)
  /// The object is sealed with the key of another epoch.
  case otherKey(found: KeyID, expected: KeyID)
  /// The object opens, but its content belongs under another name: whoever wrote it had the key.
  case nameMismatch
  /// An Argon2id cost outside of what the format allows; refused before anything is allocated.
  case costOutOfRange(Argon2Cost)
  /// Argon2id found no memory for its cost.
  case outOfMemory(memoryKiB: UInt32)
  /// Not a public key of its kind, or one with which everyone would know a part of the shared secret.
  case invalidKey
}

extension CryptoError {
  /// What is wrong, of "it": to be said of a file.
  package var message: String {
    switch self {
    case .authenticationFailed:
      "it was altered, stands elsewhere than where it was sealed, or is sealed with another key"
    case .unwrapFailed: "this key does not open the one in it"
    case .malformed(let reason): reason
    case .unsupportedVersion(let found):
      "it is of version \(found) of the format, which this program does not know"
    case .wrongKind: "it is of another kind than what names it"
    case .otherKey: "it is sealed with another epoch's key"
    case .nameMismatch: "its content belongs under another name"
    case .costOutOfRange: "its cost of unlocking is not one that the format allows"
    case .outOfMemory(let memory): "unlocking it takes \(memory / 1024) MiB, which are not free"
    case .invalidKey: "it has no valid public key"
    }
  }
}
