import CTokens
import VaultCrypto
import VaultModel

/// The TPM 2.0 of this machine: it seals a secret so that only it can open it again.
///
/// With a PIN the TPM counts wrong ones and locks for a while, as it is set up to; there is no policy on what was measured
/// at the start, since an update would lock a family out.
package struct TPM: Sendable {
  /// How it is reached, in the words of the TCG's software stack.
  private let connection: String

  /// - Parameter connection: As `device:/dev/tpmrm0`, which is the kernel's own way to it.
  package init(connection: String = "device:/dev/tpmrm0") { self.connection = connection }

  /// Seals the secret, and gives the part of a slot that says where it is.
  ///
  /// - Throws: `noneHere`, `failed`.
  package func seal(
    _ secret: borrowing SecretBytes, pin: borrowing SecretBytes?
  ) throws(TokenError) -> UnlockPart {
    var object = kv_tpm_object()
    let code = Self.withHash(of: pin) { hash in
      secret.withUnsafeBytes { secret in
        kv_tpm_seal(
          connection, secret.bindMemory(to: UInt8.self).baseAddress, secret.count, hash, &object)
      }
    }
    if code != 0 { throw Self.failure(code) }
    return .tpm(
      publicArea: withUnsafeBytes(of: object.public_area) { Array($0.prefix(object.public_size)) },
      privateArea: withUnsafeBytes(of: object.private_area) {
        Array($0.prefix(object.private_size))
      },
      asksForPIN: pin != nil)
  }

  /// What was sealed.
  ///
  /// - Throws: `wrongPIN`, `lockedOut`, `another`, `noneHere`, `failed`.
  package func unseal(
    publicArea: [UInt8], privateArea: [UInt8], pin: borrowing SecretBytes?
  ) throws(TokenError) -> SecretBytes {
    var object = kv_tpm_object()
    let fits =
      withUnsafeMutableBytes(of: &object.public_area) { Self.copy(publicArea, into: $0) }
      && withUnsafeMutableBytes(of: &object.private_area) { Self.copy(privateArea, into: $0) }
    guard fits else { throw .another }
    object.public_size = publicArea.count
    object.private_size = privateArea.count
    var secret = SecretBytes(count: SlotSecret.partSize)
    var size = secret.count
    let code = Self.withHash(of: pin) { hash in
      secret.withUnsafeMutableBytes {
        kv_tpm_unseal(connection, &object, hash, $0.bindMemory(to: UInt8.self).baseAddress, &size)
      }
    }
    if code != 0 { throw Self.failure(code) }
    guard size == secret.count else { throw .another }
    return secret
  }

  private static func copy(_ bytes: [UInt8], into room: UnsafeMutableRawBufferPointer) -> Bool {
    guard bytes.count <= room.count else { return false }
    room.copyBytes(from: bytes)
    return true
  }

  /// What the TPM gets of a PIN: its SHA-256, so that any length will do.
  private static func withHash(
    of pin: borrowing SecretBytes?, _ body: (UnsafePointer<UInt8>?) -> UInt32
  ) -> UInt32 {
    guard let hash = Self.hash(of: pin) else { return body(nil) }
    return hash.withUnsafeBytes { body($0.bindMemory(to: UInt8.self).baseAddress) }
  }

  private static func hash(of pin: borrowing SecretBytes?) -> SecretBytes? {
    switch pin {
    case .some(let pin): pin.sha256()
    case .none: nil
    }
  }

  private static func failure(_ code: UInt32) -> TokenError {
    let text = String(cString: kv_tpm_describe(code))
    return switch kv_tpm_classify(code) {
    case KV_TPM_NONE_HERE: .noneHere(text)
    case KV_TPM_WRONG_PIN: .wrongPIN
    case KV_TPM_LOCKED_OUT: .lockedOut
    case KV_TPM_OTHERS_OBJECT: .another
    default: .failed(text)
    }
  }
}
