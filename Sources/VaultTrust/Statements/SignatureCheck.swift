import VaultCrypto
import VaultModel

/// Whether a signature is that of a key over a message: Ed25519, or what stands in for it.
///
/// Who keeps what was verified puts a check around this one that remembers.
package struct SignatureCheck: Sendable {
  package let isRight:
    @Sendable (_ message: [UInt8], _ signature: [UInt8], _ key: VerifyingKey) -> Bool

  package init(
    isRight:
      @escaping @Sendable (
        _ message: [UInt8], _ signature: [UInt8], _ key: VerifyingKey
      ) -> Bool
  ) {
    self.isRight = isRight
  }

  package static let ed25519 = SignatureCheck { message, signature, key in
    verifySignature(of: message, signature: signature, publicKey: key.bytes)
  }
}
