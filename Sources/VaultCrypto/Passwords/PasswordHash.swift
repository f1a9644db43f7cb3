import CSodium
import VaultModel

/// Argon2id version 1.3 with one lane (RFC 9106), through libsodium.
package enum PasswordHash {
  package static let saltSize = 16

  /// 32 bytes of Argon2id. Takes as long as `cost` says.
  ///
  /// Throws `costOutOfRange` before anything is allocated, `malformed` for a salt that is not 16 bytes, `outOfMemory`.
  package static func stretch(_ secret: borrowing SecretBytes, salt: [UInt8], cost: Argon2Cost)
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
      do {
        _ = try stretch(password, salt: salt, cost: cost)
      } catch {
        isDone = false
      }
    }
    return isDone ? duration : nil
  }
}
