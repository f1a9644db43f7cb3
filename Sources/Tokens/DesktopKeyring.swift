import CTokens
import Glibc
import VaultCrypto
import VaultModel

/// The keyring of the person's desktop (the Secret Service of freedesktop.org), which opens with their session.
///
/// Any program of the session can read what is in it: it spares typing, it keeps nobody out who is logged in.
package enum DesktopKeyring {
  /// Keeps a secret under a vault's and a slot's id, in place of what stood there.
  ///
  /// - Parameter label: What the desktop shows of it.
  /// - Throws: `noneHere`.
  package static func store(
    _ secret: borrowing SecretBytes, vault: VaultID, slot: UnlockSlotID, label: String
  ) throws(TokenError) {
    var text = secret.withUnsafeBytes { Array(Hex.encode(Array($0)).utf8) + [0] }
    defer { text.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
    var failure: UnsafeMutablePointer<CChar>?
    let status = text.withUnsafeBytes {
      kv_keyring_store(
        vault.hex, slot.hex, label, $0.bindMemory(to: CChar.self).baseAddress, &failure)
    }
    try check(status, failure)
  }

  /// The secret that is kept for a slot.
  ///
  /// - Throws: `notKept`, `noneHere`.
  package static func load(
    vault: VaultID, slot: UnlockSlotID
  ) throws(TokenError) -> SecretBytes {
    var failure: UnsafeMutablePointer<CChar>?
    var text: UnsafeMutablePointer<CChar>?
    try check(kv_keyring_load(vault.hex, slot.hex, &text, &failure), failure)
    guard let text else { throw .notKept }
    defer { kv_keyring_free(text) }
    guard var bytes = Hex.decode(String(cString: text)), bytes.count == SlotSecret.partSize else {
      throw .another
    }
    defer { bytes.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
    return SecretBytes(copying: bytes)
  }

  /// Forgets it; nothing to forget is fine.
  ///
  /// - Throws: `noneHere`.
  package static func remove(vault: VaultID, slot: UnlockSlotID) throws(TokenError) {
    var failure: UnsafeMutablePointer<CChar>?
    do {
      try check(kv_keyring_remove(vault.hex, slot.hex, &failure), failure)
    } catch {
      if case .notKept = error { return }
      throw error
    }
  }

  private static func check(
    _ status: Int32, _ failure: UnsafeMutablePointer<CChar>?
  ) throws(TokenError) {
    defer { free(failure) }
    if status == 0 { return }
    if status == 1 { throw .notKept }
    throw .noneHere(failure.map { String(cString: $0) } ?? "")
  }
}
