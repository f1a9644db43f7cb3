import CSodium
import VaultModel

/// Argon2id version 1.3 with one lane (RFC 9106), through libsodium.
package enum PasswordHash {
  package static let saltSize = 16

  /// The key that the password gives for this device's slot. Takes as long as `cost` says.
  ///
  /// Throws `costOutOfRange` before anything is allocated, `malformed` for a salt that is not 16
  /// bytes, `outOfMemory`. A wrong password shows only when `DeviceUnlockKey.unwrap` fails.
  package static func derive(
    password: borrowing SecretBytes, salt: [UInt8], cost: Argon2Cost, person: PersonID,
    device: DeviceID, binding: Binding
  ) throws(CryptoError) -> PasswordKEK {
    let stretched = try stretch(password, salt: salt, cost: cost)
    let info = binding.info(label: "password-kek", context: person.bytes + device.bytes)
    return PasswordKEK(HKDF.derive(stretched, info: info))
  }

  /// 32 bytes of Argon2id; throws as `derive` does.
  static func stretch(_ secret: borrowing SecretBytes, salt: [UInt8], cost: Argon2Cost)
    throws(CryptoError) -> SecretBytes
  {
    try cost.validate()
    guard salt.count == saltSize else {
      throw .malformed(reason: "a salt has 16 bytes, not \(salt.count)")
    }
    return try argon2id(secret, salt: salt, cost: cost, count: 32)
  }

  /// Argon2id itself, of any cost; the salt must have 16 bytes.
  static func argon2id(
    _ secret: borrowing SecretBytes, salt: [UInt8], cost: Argon2Cost, count: Int
  ) throws(CryptoError) -> SecretBytes {
    precondition(salt.count == saltSize, "libsodium takes salts of 16 bytes only")
    var output = SecretBytes(count: count)
    let isDone = output.withUnsafeMutableBytes { output in
      secret.withUnsafeBytes { secret in
        crypto_pwhash_argon2id(
          output.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(output.count),
          secret.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(secret.count), salt,
          UInt64(cost.passes), Int(cost.memoryKiB) << 10, crypto_pwhash_alg_argon2id13()) == 0
      }
    }
    guard isDone else { throw .outOfMemory(memoryKiB: cost.memoryKiB) }
    return output
  }

  /// How long this cost takes here; nil where there is no memory for it.
  static func duration(of cost: Argon2Cost) -> Duration? {
    let password = SecretBytes(count: 16)
    let salt = [UInt8](repeating: 0, count: saltSize)
    var isDone = true
    let duration = ContinuousClock().measure {
      do throws(CryptoError) {
        _ = try stretch(password, salt: salt, cost: cost)
      } catch {
        isDone = false
      }
    }
    return isDone ? duration : nil
  }
}

/// The key that wraps a device unlock key; only who knows the password can derive it.
package struct PasswordKEK: ~Copyable, Sendable {
  fileprivate let secret: SecretBytes

  fileprivate init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// What unlocks this machine's private keys: 32 random bytes, in the password slot under the
/// password and, while unlocked, in the session keyring.
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

  /// Wraps this key for the password slot; gives 40 bytes.
  package func wrap(under key: borrowing PasswordKEK) -> [UInt8] {
    KeyWrap.wrap(secret, under: key.secret)
  }

  /// The key of a password slot; throws `unwrapFailed` if the password is another one (or the slot
  /// was altered: its checksum tells).
  package static func unwrap(_ wrapped: [UInt8], under key: borrowing PasswordKEK)
    throws(CryptoError) -> DeviceUnlockKey
  {
    DeviceUnlockKey(try KeyWrap.unwrap(wrapped, under: key.secret))
  }

  /// Seals this machine's private keys in the password slot.
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
