import CLinux
import Glibc
import VaultModel

/// Keeps a vault's unlock key in the kernel for a while, so that the password need not be typed
/// for every command: under the key name `kinvault:<vault id>:<hash>` in the user's keyring,
/// readable by processes of this user only, gone when nobody used it for the idle timeout, or at a
/// reboot. The hash is of where this machine's state is: two devices of one vault whose states are
/// on one machine, such as on a stick, each have theirs, and one that becomes another device keeps it.
///
/// See keyrings(7). Where the kernel offers no keyring (some containers), everything throws
/// `unavailable`.
package enum SessionKeyring {
  /// Puts the key there, in place of one that is there already.
  ///
  /// `timeout` is rounded up to whole seconds, from 1 second to 10 years.
  package static func store(
    _ key: borrowing DeviceUnlockKey, vault: VaultID, state: String, timeout: Duration
  ) throws(SessionKeyringError) {
    let seconds = wholeSeconds(timeout)
    let payload = Payload.encoded(seconds: seconds, key)
    let serial = try check(
      payload.withUnsafeBytes { kv_key_add(description(vault, state), $0.baseAddress, $0.count) })
    // A key added to the user's keyring directly could not be read back: it would be possessed by
    // no process. So it is made in this process's own keyring, opened to the user, then linked.
    do {
      try check(kv_key_set_timeout(serial, seconds))
      try check(kv_key_share_with_user(serial))
      try check(kv_key_link_to_user_keyring(serial))
    } catch {
      _ = kv_key_invalidate(serial)
      throw error
    }
    _ = kv_key_unlink_from_process_keyring(serial)
  }

  /// The key, whose idle timeout starts anew (not without `renewing`); nil if there is none, or not any more.
  package static func load(
    vault: VaultID, state: String, renewing: Bool = true
  ) throws(SessionKeyringError) -> DeviceUnlockKey? {
    guard let serial = try find(vault, state) else { return nil }
    var payload = SecretBytes(count: Payload.size)
    let size = payload.withUnsafeMutableBytes { kv_key_read(serial, $0.baseAddress, $0.count) }
    if isGone(Int32(clamping: size)) { return nil }
    try check(Int32(clamping: size))
    guard size == Payload.size, let content = Payload(decoding: payload) else {
      throw .foreignKey
    }
    if renewing {
      let renewal = kv_key_set_timeout(serial, content.seconds)
      if isGone(renewal) { return nil }
      try check(renewal)
    }
    return content.key
  }

  /// Removes the key for every process; nothing happens if there is none.
  package static func remove(vault: VaultID, state: String) throws(SessionKeyringError) {
    guard let serial = try find(vault, state) else { return }
    let result = kv_key_invalidate(serial)
    // One that is there and stays is not as if there were no keyring.
    if result < 0, !isGone(result) { throw .failed(errno: -result) }
  }

  /// Whether there is a keyring here at all; does not say whether a key is in it.
  package static var isAvailable: Bool {
    let result = kv_key_find("kinvault:probe")
    return result >= 0 || isGone(result)
  }

  // MARK: Details

  /// What the key is called, also in `/proc/keys`.
  ///
  /// - Parameter state: Where this machine's state is, always in the same words.
  package static func description(_ vault: VaultID, _ state: String) -> String {
    "kinvault:\(vault.hex):\(Digest.sha256(Array(state.utf8)).hex.prefix(16))"
  }

  private static func find(
    _ vault: VaultID, _ state: String
  ) throws(SessionKeyringError) -> Int32? {
    let serial = kv_key_find(description(vault, state))
    return isGone(serial) ? nil : try check(serial)
  }

  private static func isGone(_ result: Int32) -> Bool {
    [-ENOKEY, -EKEYEXPIRED, -EKEYREVOKED].contains(result)
  }

  @discardableResult
  private static func check(_ result: Int32) throws(SessionKeyringError) -> Int32 {
    switch result {
    case 0...: return result
    case -ENOSYS, -EPERM, -EACCES, -EOPNOTSUPP: throw .unavailable(errno: -result)
    default: throw .failed(errno: -result)
    }
  }

  private static func wholeSeconds(_ timeout: Duration) -> UInt32 {
    let (seconds, attoseconds) = timeout.components
    let tenYears: Int64 = 10 * 366 * 86_400
    guard seconds < tenYears else { return UInt32(tenYears) }
    return UInt32(max(1, seconds + (attoseconds > 0 ? 1 : 0)))
  }
}

package enum SessionKeyringError: Error, Hashable, Sendable {
  /// This system offers no keyring to this process: ask for the password each time.
  case unavailable(errno: Int32)
  /// The keyring is there, but refused, such as for a full quota (`EDQUOT`).
  case failed(errno: Int32)
  /// Something else stands under the vault's name.
  case foreignKey
}

/// What stands in the keyring: version 1, the idle timeout in seconds (4 bytes), the key.
private struct Payload: ~Copyable {
  let seconds: UInt32
  let key: DeviceUnlockKey

  private static let version: UInt8 = 1
  private static let keyOffset = 5
  static let size = keyOffset + DeviceUnlockKey.size

  static func encoded(seconds: UInt32, _ key: borrowing DeviceUnlockKey) -> SecretBytes {
    var payload = SecretBytes(count: size)
    key.withUnsafeBytes { key in
      payload.withUnsafeMutableBytes { output in
        output[0] = version
        output.storeBytes(of: seconds.bigEndian, toByteOffset: 1, as: UInt32.self)
        UnsafeMutableRawBufferPointer(rebasing: output[keyOffset...]).copyMemory(from: key)
      }
    }
    return payload
  }

  /// Nil for what `encoded` did not make.
  init?(decoding payload: borrowing SecretBytes) {
    let isKnown = payload.withUnsafeBytes { $0.count == Self.size && $0[0] == Self.version }
    guard isKnown else { return nil }
    seconds = payload.withUnsafeBytes {
      UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }
    key = DeviceUnlockKey(
      payload.withUnsafeBytes {
        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[Self.keyOffset...]))
      })
  }
}
