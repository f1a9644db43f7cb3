import Crypto

import struct FoundationEssentials.Data

/// A private key of X-Wing (draft-connolly-cfrg-xwing-kem-06), of a device or a generation: whoever has its public key
/// can agree with it on a secret. The secret stands as long as either of X25519 and ML-KEM-768 does.
///
/// While a secret is agreed on, and as long as an `ExpandedAgreementKey` is there, BoringSSL's copy of the private key is in ordinary memory, and is not erased.
package struct AgreementKey: ~Copyable, Sendable {
  /// Of the private key: the seed of which the keys of both algorithms are derived.
  package static let privateSize = 32
  /// Of what `agree` gives to be sent.
  static let encapsulatedSize = 1_120

  private let privateKey: SecretBytes
  /// 1,216 bytes: that of ML-KEM-768, then that of X25519.
  package let publicKey: [UInt8]

  /// Any 32 bytes are a private key; traps for another size.
  package init(privateKey: consuming SecretBytes) {
    precondition(privateKey.count == Self.privateSize, "a seed of X-Wing has 32 bytes")
    publicKey = Array(Self.expanded(privateKey).publicKey.rawRepresentation)
    self.privateKey = privateKey
  }

  package static func random() -> AgreementKey {
    AgreementKey(privateKey: SecretBytes(randomCount: privateSize))
  }

  /// A secret that was agreed on with somebody.
  struct Agreement: ~Copyable {
    /// 32 bytes.
    let secret: SecretBytes
    /// What is sent, 1,120 bytes: only the private key gets the secret out of it.
    let encapsulated: [UInt8]
  }

  /// Draws a new secret for whoever has this public key.
  ///
  /// Throws `invalidKey` for what is no public key, and for one of which everyone would know half of the secret
  /// (RFC 7748, section 6.1).
  static func agree(
    with publicKey: [UInt8]
  ) throws(CryptoError) -> Agreement {
    do {
      let key = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
      let result = try key.encapsulate()
      return Agreement(
        secret: Self.secret(result.sharedSecret), encapsulated: Array(result.encapsulated))
    } catch {
      throw .invalidKey
    }
  }

  /// Whether something can be wrapped for whoever has this public key. As costly as doing it.
  package static func isPublicKey(_ bytes: [UInt8]) -> Bool { (try? agree(with: bytes)) != nil }

  /// The key made ready to get secrets, any number of them: that costs about as much as getting one.
  package func expanded() -> ExpandedAgreementKey {
    ExpandedAgreementKey(Self.expanded(privateKey), publicKey: publicKey)
  }

  fileprivate static func secret(_ key: SymmetricKey) -> SecretBytes {
    var bytes = key.withUnsafeBytes { Array($0) }
    defer { wipe(&bytes) }
    return SecretBytes(copying: bytes)
  }

  private static func expanded(
    _ seed: borrowing SecretBytes
  ) -> XWingMLKEM768X25519.PrivateKey {
    seed.withUnsafeBytes { bytes in
      let seed = Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes.baseAddress!), count: bytes.count,
        deallocator: .none)
      do {
        return try XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil)
      } catch {
        preconditionFailure("every 32 bytes are a seed of X-Wing: \(error)")
      }
    }
  }
}

/// A private key of X-Wing with the keys of both algorithms, of which it is the seed, made of it once: for an opening that
/// unwraps many keys with it.
///
/// As long as it is there, BoringSSL's copy of the private key is in ordinary memory: not to be kept.
package final class ExpandedAgreementKey: Sendable {
  private let key: XWingMLKEM768X25519.PrivateKey
  let publicKey: [UInt8]

  fileprivate init(_ key: XWingMLKEM768X25519.PrivateKey, publicKey: [UInt8]) {
    (self.key, self.publicKey) = (key, publicKey)
  }

  /// The secret that somebody agreed on with this key. What was altered, or was for another key, gives another secret
  /// without an error: whatever the secret protects tells.
  ///
  /// Throws `malformed` unless `encapsulated` has 1,120 bytes, or if its point is one of small order.
  func secret(of encapsulated: [UInt8]) throws(CryptoError) -> SecretBytes {
    guard encapsulated.count == AgreementKey.encapsulatedSize else {
      throw .malformed(
        reason: "\(encapsulated.count) bytes, not \(AgreementKey.encapsulatedSize)")
    }
    do { return AgreementKey.secret(try key.decapsulate(Data(encapsulated))) } catch {
      throw .malformed(reason: "what X-Wing sent has a point of small order")
    }
  }
}
