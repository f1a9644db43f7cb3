import Crypto
import Testing
import VaultModel

@testable import VaultCrypto

/// Our primitives against swift-crypto's, on random input of many sizes.
@Suite struct CrossCheckTests {
  static let sizes = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1_000, 16_384, 100_001]

  @Test(arguments: sizes) func hmacAgrees(size: Int) {
    let (key, message) = (randomBytes(32), randomBytes(size))
    var code = [UInt8](repeating: 0, count: 32)
    let ours = HMACKey(SecretBytes(copying: key))
    for split in [0, size / 3, size] {
      message.withUnsafeBytes { message in
        code.withUnsafeMutableBytes { code in
          ours.authenticate(
            UnsafeRawBufferPointer(rebasing: message[..<split]),
            UnsafeRawBufferPointer(rebasing: message[split...]), into: code)
        }
      }
      #expect(
        code
          == Array(Crypto.HMAC<SHA256>.authenticationCode(for: message, using: .init(data: key))))
    }
  }

  @Test(arguments: sizes) func digestAgrees(size: Int) {
    let message = randomBytes(size)
    #expect(VaultCrypto.Digest.sha256(message).bytes == Array(SHA256.hash(data: message)))
  }

  @Test(arguments: [0, 1, 16, 32, 64, 65, 200]) func hkdfAgrees(size: Int) {
    let (key, salt, info) = (randomBytes(max(size, 1)), randomBytes(size), randomBytes(size))
    for count in [1, 31, 32, 33, 44, 64, 255] {
      let theirs = Crypto.HKDF<SHA256>.deriveKey(
        inputKeyMaterial: .init(data: key), salt: salt, info: info, outputByteCount: count)
      let ours = VaultCrypto.HKDF.derive(
        SecretBytes(copying: key), salt: salt, info: info, count: count)
      #expect(ours.exposed == theirs.withUnsafeBytes { Array($0) })
    }
  }

  @Test(arguments: sizes) func sealedValuesAgree(size: Int) throws {
    let (key, plaintext) = (randomBytes(32), randomBytes(size))
    let ours = SealingKey(SecretBytes(copying: key), binding: Sample.binding)
    let additional =
      Array("head".utf8) + [0] + Sample.vault.bytes + Array("some/path".utf8)
      + [0, 0, 0, 0, 0, 0, 1, 2]
    let sealed = ours.seal(plaintext, label: .head, path: "some/path", counter: 258)
    let theirs = try AES.GCM.open(
      .init(
        nonce: .init(data: sealed.nonce), ciphertext: sealed.ciphertext.dropLast(16),
        tag: sealed.ciphertext.suffix(16)),
      using: .init(data: key), authenticating: additional)
    #expect(Array(theirs) == plaintext)

    let box = try AES.GCM.seal(plaintext, using: .init(data: key), authenticating: additional)
    let back = Sealed(
      nonce: Array(box.nonce), ciphertext: Array(box.ciphertext) + Array(box.tag))
    #expect(try ours.open(back, label: .head, path: "some/path", counter: 258) == plaintext)
  }

  @Test func keyWrapAgrees() throws {
    let (key, wrappingKey) = (randomBytes(32), randomBytes(32))
    let theirs = try AES.KeyWrap.wrap(.init(data: key), using: .init(data: wrappingKey))
    let ours = KeyWrap.wrap(
      SecretBytes(copying: key), under: SecretBytes(copying: wrappingKey))
    #expect(ours == Array(theirs))
    let unwrapped = try AES.KeyWrap.unwrap(ours, using: .init(data: wrappingKey))
    #expect(unwrapped.withUnsafeBytes { Array($0) } == key)
  }

  @Test func signaturesAgree() throws {
    let ours = SigningKey.random()
    let body = randomBytes(500)
    let message = Sample.binding.signedMessage(.audit, path: "a/b", body: body)
    #expect(
      message
        == Array("kinvault/2/audit".utf8) + [0] + Sample.vault.bytes
        + Array(SHA256.hash(data: Array("a/b".utf8))) + body)
    let theirs = try Curve25519.Signing.PublicKey(rawRepresentation: ours.publicKey)
    let signature = ours.sign(message)
    #expect(theirs.isValidSignature(signature, for: message))

    let signer = Curve25519.Signing.PrivateKey()
    #expect(
      verifySignature(
        of: message, signature: Array(try signer.signature(for: message)),
        publicKey: Array(signer.publicKey.rawRepresentation)))
  }
}
