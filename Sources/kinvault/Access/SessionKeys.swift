import Glibc
import Vault
import VaultCrypto
import VaultModel

/// The unlocked state between commands, in the kernel's keyring where there is one.
enum SessionKeys {
  /// How long an unlocked vault stays so when nobody uses it.
  static let defaultTimeout = Duration.seconds(300)

  /// The key of an unlocked vault, whose time starts anew; nil if it is locked.
  ///
  /// Where nobody asks for it in person, as in a unit of a timer (`KINVAULT_UNATTENDED`), the time goes on: a timer keeps
  /// no vault unlocked.
  static func load(vault: VaultID) throws(SessionKeyringError) -> DeviceUnlockKey? {
    let isAttended = Environment.value("KINVAULT_UNATTENDED") == nil
    guard let device = device(of: vault) else { return nil }
    do throws(SessionKeyringError) {
      let key = try SessionKeyring.load(vault: vault, device: device, renewing: isAttended)
      guard let key else {
        SignInNotes.keep(of: vault) { (state) throws(VaultError) in
          try state.noteSessionEnd(byItself: true)
        }
        return nil
      }
      if isAttended {
        SignInNotes.keep(of: vault) { (state) throws(VaultError) in try state.noteSessionUse() }
      }
      return key
    } catch {
      if case .unavailable = error { return nil }
      throw error
    }
  }

  /// Whether the vault is unlocked; its time goes on.
  static func holds(vault: VaultID) throws(SessionKeyringError) -> Bool {
    guard let device = device(of: vault) else { return false }
    return try SessionKeyring.load(vault: vault, device: device, renewing: false) != nil
  }

  /// Keeps the vault unlocked, where there is a keyring.
  static func store(
    _ key: borrowing DeviceUnlockKey, vault: VaultID, timeout: Duration
  ) throws(SessionKeyringError) {
    guard let device = device(of: vault) else { return }
    do throws(SessionKeyringError) {
      try SessionKeyring.store(key, vault: vault, device: device, timeout: timeout)
      SignInNotes.keep(of: vault) { (state) throws(VaultError) in
        try state.noteSession(timeout: timeout)
      }
    } catch {
      if case .unavailable = error { return }
      throw error
    }
  }

  /// Forgets the key, if there is one.
  static func remove(vault: VaultID) throws(SessionKeyringError) {
    guard let device = device(of: vault) else { return }
    do throws(SessionKeyringError) {
      try SessionKeyring.remove(vault: vault, device: device)
    } catch {
      // Without a keyring it is never unlocked.
      guard case .unavailable = error else { throw error }
    }
    SignInNotes.keep(of: vault) { (state) throws(VaultError) in
      try state.noteSessionEnd(byItself: false)
    }
  }

  /// Says that every command will ask, where that is so.
  static func explainIfUnavailable() {
    guard !SessionKeyring.isAvailable else { return }
    Terminal.note("kinvault: " + SessionKeyringError.unavailable(errno: ENOSYS).message)
  }

  /// How long until the vault locks itself, as the kernel puts it (`4m`); nil where it does not tell.
  static func timeLeft(vault: VaultID) -> String? {
    guard let device = device(of: vault), let file = fopen("/proc/keys", "re") else { return nil }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line {
      // Serial, flags, uses, time, permissions, uid, gid, type, name.
      let fields = String(cString: text).split(whereSeparator: \.isWhitespace)
      guard fields.count > 8, fields[3] != "expd",
        fields[8].hasPrefix(SessionKeyring.description(vault, device))
      else { continue }
      return String(fields[3])
    }
    return nil
  }

  /// Which device this machine is; nil where it is none, or where its file is damaged, which whatever opens the vault
  /// next says.
  private static func device(of vault: VaultID) -> DeviceID? {
    do throws(VaultError) {
      return try StateFolder(root: Environment.stateRoot, vault: vault).device(of: vault)
    } catch {
      return nil
    }
  }
}
