import Crypto
import Testing
import VaultModel

@testable import VaultCrypto

/// What the secret of an invitation gives, computed anew from Docs/Format.md with swift-crypto.
struct InvitationSecretTests {
  private let secret = randomBytes(16)
  private let inviter = PersonID.random()

  private func derived(_ label: String, context: [UInt8] = []) -> [UInt8] {
    let info = Array("kinvault/2/\(label)".utf8) + [0] + Sample.vault.bytes + context
    let key = Crypto.HKDF<SHA256>.deriveKey(
      inputKeyMaterial: .init(data: secret), salt: [UInt8](), info: info, outputByteCount: 32)
    return key.withUnsafeBytes { Array($0) }
  }

  @Test func namesItsInvitation() {
    let id = InvitationSecret(secret).id(binding: Sample.binding)
    #expect(id.bytes == Array(derived("invitation-id").prefix(8)))
  }

  @Test func sealsAnIntroductionForItsPathAlone() throws {
    let path = "people/\(PersonID.random().hex)/introduction"
    let key = InvitationSecret(secret).sealingKey(inviter: inviter, binding: Sample.binding)
    let sealed = key.seal([1, 2, 3], label: .introduction, path: path, counter: 0)
    let additional =
      Array("introduction".utf8) + [0] + Sample.vault.bytes + Array(path.utf8)
      + [UInt8](repeating: 0, count: 8)
    let opened = try AES.GCM.open(
      .init(
        nonce: .init(data: sealed.nonce), ciphertext: sealed.ciphertext.dropLast(16),
        tag: sealed.ciphertext.suffix(16)),
      using: .init(data: derived("introduction", context: inviter.bytes)),
      authenticating: additional)
    #expect(Array(opened) == [1, 2, 3])
    let other = "people/\(PersonID.random().hex)/introduction"
    #expect(throws: VaultCrypto.CryptoError.self) {
      _ = try key.open(sealed, label: .introduction, path: other, counter: 0)
    }
  }
}
