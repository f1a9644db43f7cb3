import COpenSSL
import Crypto
import Foundation
import Synchronization

/// A FIDO2 token in software, written from CTAP 2.0: makes credentials, answers with `hmac-secret`, has a PIN or none.
///
/// libfido2 reaches it by reports as if it were on USB: in this process by `SoftTokenPort`, in another one by `PluggedToken`.
package final class SoftToken: Sendable {
  private struct Credential {
    let key: P256.Signing.PrivateKey
    /// What `hmac-secret` is keyed with: another one where the PIN was typed.
    let secret: [UInt8]
    let secretWithPIN: [UInt8]
  }

  private struct State {
    var credentials: [[UInt8]: Credential] = [:]
    var pinHash: [UInt8]?
    var pinTries = 8
    let agreement = P256.KeyAgreement.PrivateKey()
    var pinToken = SoftToken.random(32)
    var touches = 0
    var isTouched = true
  }

  private let state = Mutex(State())

  enum Failure: UInt8, Error {
    case invalidCommand = 0x01
    case invalidCBOR = 0x12
    case operationDenied = 0x27
    case noCredentials = 0x2e
    case pinInvalid = 0x31
    case pinBlocked = 0x32
    case pinAuthInvalid = 0x33
    case pinRequired = 0x36
  }

  package init(pin: String? = nil) {
    if let pin { state.withLock { $0.pinHash = Self.pinHash(pin) } }
  }

  /// How often somebody had to touch it.
  package var touches: Int { state.withLock { $0.touches } }

  /// From now on nobody touches it, or somebody does.
  package func setTouched(_ isTouched: Bool) { state.withLock { $0.isTouched = isTouched } }

  /// Forgets all credentials, as a reset does.
  package func reset() { state.withLock { $0.credentials = [:] } }

  static func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255) }
  }

  private static func pinHash(_ pin: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(pin.utf8)).prefix(16))
  }

  // MARK: Commands

  /// The answer to a message of CTAP: a status, and what comes with it.
  package func answer(_ message: [UInt8]) -> [UInt8] {
    do {
      let body = CBOR.decode(Array(message.dropFirst())) ?? .map()
      let reply = try state.withLock { state in
        switch message.first {
        case 0x01: try Self.makeCredential(body, &state)
        case 0x02: try Self.getAssertion(body, &state)
        case 0x04: Self.info(state)
        case 0x06: try Self.clientPIN(body, &state)
        default: throw Failure.invalidCommand
        }
      }
      return [0] + reply.encoded
    } catch let failure as Failure {
      return [failure.rawValue]
    } catch {
      return [0x7f]
    }
  }

  private static func info(_ state: State) -> CBOR {
    .map(
      (.number(1), .list([.text("FIDO_2_0")])),
      (.number(2), .list([.text("hmac-secret")])),
      (.number(3), .bytes([UInt8](repeating: 7, count: 16))),
      (
        .number(4),
        .map(
          (.text("rk"), .flag(true)), (.text("up"), .flag(true)),
          (.text("clientPin"), .flag(state.pinHash != nil)))
      ),
      (.number(5), .number(1200)),
      (.number(6), .list([.number(1)])))
  }

  private static func makeCredential(_ body: CBOR, _ state: inout State) throws -> CBOR {
    let isVerified = try verify(body[8], body[1]?.asBytes, &state)
    guard state.pinHash == nil || isVerified else { throw Failure.pinRequired }
    try touch(&state)
    let id = random(48)
    let credential = Credential(
      key: P256.Signing.PrivateKey(), secret: random(32), secretWithPIN: random(32))
    state.credentials[id] = credential
    let point = Array(credential.key.publicKey.rawRepresentation)
    var data = relyingParty(body[2]?[.text("id")])
    data += [0xc1 | (isVerified ? 4 : 0), 0, 0, 0, 1]
    data += [UInt8](repeating: 7, count: 16) + [0, UInt8(id.count)] + id
    data += cose(point, algorithm: -7).encoded
    data += CBOR.map((.text("hmac-secret"), .flag(true))).encoded
    return .map(
      (.number(1), .text("none")), (.number(2), .bytes(data)), (.number(3), .map()))
  }

  private static func getAssertion(_ body: CBOR, _ state: inout State) throws -> CBOR {
    let wanted = body[3]?.asList ?? []
    let found = wanted.compactMap { $0[.text("id")]?.asBytes }.first {
      state.credentials[$0] != nil
    }
    guard let id = found, let credential = state.credentials[id] else {
      throw Failure.noCredentials
    }
    let isVerified = try verify(body[6], body[2]?.asBytes, &state)
    let isPresent = body[5]?[.text("up")]?.asFlag ?? true
    if isPresent { try touch(&state) }
    var data = relyingParty(body[1])
    let hmac = body[4]?[.text("hmac-secret")]
    data += [(isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (hmac == nil ? 0 : 0x80), 0, 0, 0, 2]
    if let hmac {
      let shared = try sharedSecret(hmac[1], state)
      let sealed = hmac[2]?.asBytes ?? []
      guard hmac[3]?.asBytes == Array(mac(shared, sealed).prefix(16)) else {
        throw Failure.pinAuthInvalid
      }
      let salt = crypt(sealed, key: shared, encrypts: false)
      let output = mac(isVerified ? credential.secretWithPIN : credential.secret, salt)
      data +=
        CBOR.map(
          (.text("hmac-secret"), .bytes(crypt(output, key: shared, encrypts: true)))
        ).encoded
    }
    let signature = try credential.key.signature(for: data + (body[2]?.asBytes ?? []))
    return .map(
      (.number(1), .map((.text("id"), .bytes(id)), (.text("type"), .text("public-key")))),
      (.number(2), .bytes(data)),
      (.number(3), .bytes(Array(signature.derRepresentation))))
  }

  private static func clientPIN(_ body: CBOR, _ state: inout State) throws -> CBOR {
    switch body[2]?.asNumber {
    case 1: return .map((.number(3), .number(state.pinTries)))
    case 2:
      let point = Array(state.agreement.publicKey.rawRepresentation)
      return .map((.number(1), cose(point, algorithm: -25)))
    case 5:
      guard let pinHash = state.pinHash else { throw Failure.pinRequired }
      guard state.pinTries > 0 else { throw Failure.pinBlocked }
      let shared = try sharedSecret(body[3], state)
      guard crypt(body[6]?.asBytes ?? [], key: shared, encrypts: false) == pinHash else {
        state.pinTries -= 1
        throw state.pinTries == 0 ? Failure.pinBlocked : Failure.pinInvalid
      }
      state.pinTries = 8
      return .map((.number(2), .bytes(crypt(state.pinToken, key: shared, encrypts: true))))
    default: throw Failure.invalidCommand
    }
  }

  // MARK: Pieces

  /// Whether whoever asks has typed the PIN: they have what the token gave for it.
  private static func verify(
    _ proof: CBOR?, _ hash: [UInt8]?, _ state: inout State
  ) throws -> Bool {
    guard let proof = proof?.asBytes else { return false }
    guard let hash, proof == Array(mac(state.pinToken, hash).prefix(16)) else {
      throw Failure.pinAuthInvalid
    }
    return true
  }

  private static func touch(_ state: inout State) throws {
    guard state.isTouched else { throw Failure.operationDenied }
    state.touches += 1
  }

  private static func relyingParty(_ name: CBOR?) -> [UInt8] {
    guard case .text(let name) = name else { return [UInt8](repeating: 0, count: 32) }
    return Array(SHA256.hash(data: Array(name.utf8)))
  }

  private static func cose(_ point: [UInt8], algorithm: Int) -> CBOR {
    .map(
      (.number(1), .number(2)), (.number(3), .number(algorithm)), (.number(-1), .number(1)),
      (.number(-2), .bytes(Array(point.prefix(32)))),
      (.number(-3), .bytes(Array(point.suffix(32)))))
  }

  /// The key of PIN protocol 1: SHA-256 of the x coordinate that both sides know.
  private static func sharedSecret(_ theirs: CBOR?, _ state: State) throws -> [UInt8] {
    guard let x = theirs?[-2]?.asBytes, let y = theirs?[-3]?.asBytes else {
      throw Failure.invalidCBOR
    }
    let key = try P256.KeyAgreement.PublicKey(rawRepresentation: x + y)
    let shared = try state.agreement.sharedSecretFromKeyAgreement(with: key)
    return shared.withUnsafeBytes { Array(SHA256.hash(data: $0)) }
  }

  private static func mac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
  }

  /// AES-256-CBC without padding, from a vector of zeros.
  private static func crypt(_ bytes: [UInt8], key: [UInt8], encrypts: Bool) -> [UInt8] {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    let vector = [UInt8](repeating: 0, count: 16)
    var output = [UInt8](repeating: 0, count: bytes.count + 16)
    var count: Int32 = 0
    EVP_CipherInit_ex(context, EVP_aes_256_cbc(), nil, key, vector, encrypts ? 1 : 0)
    EVP_CIPHER_CTX_set_padding(context, 0)
    EVP_CipherUpdate(context, &output, &count, bytes, Int32(bytes.count))
    return Array(output.prefix(Int(count)))
  }
}
