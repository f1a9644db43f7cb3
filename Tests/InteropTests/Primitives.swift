import CSodium
import Crypto
import Foundation

/// Section 3 of the format: the primitives, bound to one vault.
struct Primitives {
  let vault: [UInt8]

  func derive(
    _ key: [UInt8], _ label: String, salt: [UInt8] = [], context: [UInt8] = []
  ) -> [UInt8] {
    let derived = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key), salt: salt,
      info: Array("kinvault/2/\(label)".utf8) + [0] + vault + context, outputByteCount: 32)
    return derived.withUnsafeBytes(Array.init)
  }

  /// The body of a `SignedFile`, after its signature has been checked (section 5).
  ///
  /// - Parameter signer: Gives the key for a body, and for the statement's id.
  func verified(
    _ file: [UInt8], _ label: String, path: String,
    signer: (WireMessage, _ statement: [UInt8]) throws -> [UInt8]
  ) throws -> WireMessage {
    let envelope = try WireMessage(file)
    let bytes = try envelope.bytes(1)
    let body = try WireMessage(bytes)
    let message =
      Array("kinvault/2/\(label)".utf8) + [0] + vault + Array(path.utf8).sha256 + bytes
    let key = try Curve25519.Signing.PublicKey(rawRepresentation: try signer(body, message.sha256))
    try Refused.unless(
      key.isValidSignature(try envelope.bytes(2), for: message), "the signature of \(path)")
    return body
  }

  /// Opens a `Sealed` value of the file at `path` (section 5).
  func opened(
    _ sealed: WireMessage, key: [UInt8], label: String, path: String, counter: UInt64
  ) throws -> WireMessage {
    let context = Array(label.utf8) + [0] + vault + Array(path.utf8) + counter.bigEndianBytes
    return try WireMessage(
      try openAES(
        sealed.bytes(2)[...], key: key, nonce: sealed.bytes(1), additionalData: context))
  }

  /// The key in a wrap (section 4): X-Wing, HKDF, AES-KW.
  ///
  /// - Parameters:
  ///   - file: The wrap.
  ///   - privateKey: The seed.
  ///   - publicKey: That of the certificate or the closing, which the seed must give.
  func unwrapped(
    _ file: [UInt8], _ privateKey: [UInt8], _ publicKey: [UInt8], _ label: String,
    context: [UInt8]
  ) throws -> [UInt8] {
    try Refused.unless(file.count == 1 + 1120 + 40 && file[0] == 1, "a wrap's suite or size")
    try Refused.unless(try agreementPublicKey(of: privateKey) == publicKey, "an agreement key")
    let sent = Array(file[1...1120])
    let secret = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: privateKey, publicKey: nil)
      .decapsulate(Data(sent)).withUnsafeBytes(Array.init)
    let key = derive(secret, label, salt: sent + publicKey, context: context)
    return try unwrap(Array(file.suffix(40)), with: key)
  }
}

/// X-Wing's public key of a seed.
func agreementPublicKey(of seed: [UInt8]) throws -> [UInt8] {
  Array(
    try XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey
      .rawRepresentation)
}

/// Opens AES-256-GCM; `ciphertext` ends with the tag.
func openAES(
  _ ciphertext: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8], additionalData: [UInt8]
) throws -> [UInt8] {
  try Refused.unless(ciphertext.count >= 16, "no room for a tag")
  let box = try AES.GCM.SealedBox(
    nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext.dropLast(16),
    tag: ciphertext.suffix(16))
  return Array(
    try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: additionalData))
}

func unwrap(_ wrapped: [UInt8], with key: [UInt8]) throws -> [UInt8] {
  try AES.KeyWrap.unwrap(wrapped, using: SymmetricKey(data: key)).withUnsafeBytes(Array.init)
}

/// Argon2id with one lane, to 32 bytes: the one primitive that swift-crypto does not have.
func argon2id(_ secret: [UInt8], salt: [UInt8], passes: UInt64, memoryKiB: UInt64) throws
  -> [UInt8]
{
  try Refused.unless(
    (3...64).contains(passes) && (65_536...4_194_304).contains(memoryKiB), "Argon2id costs")
  try Refused.unless(salt.count == Int(crypto_pwhash_saltbytes()), "the salt's length")
  var output = [UInt8](repeating: 0, count: 32)
  let status = crypto_pwhash(
    &output, 32, secret.map(CChar.init(bitPattern:)), UInt64(secret.count), salt, passes,
    Int(memoryKiB) * 1024, crypto_pwhash_alg_argon2id13())
  try Refused.unless(status == 0, "Argon2id failed")
  return output
}

extension [UInt8] {
  var sha256: [UInt8] { Array(SHA256.hash(data: self)) }

  var hex: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  init(hex: String) throws {
    let digits = try hex.map { digit in
      guard let value = "0123456789abcdef".firstIndex(of: digit) else { throw Refused("hex") }
      return UInt8("0123456789abcdef".distance(from: "0123456789abcdef".startIndex, to: value))
    }
    try Refused.unless(digits.count.isMultiple(of: 2), "hex of odd length")
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}

extension FixedWidthInteger {
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
