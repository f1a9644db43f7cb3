import Glibc
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
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
    do {
      let key = try SessionKeyring.load(vault: vault, state: state, renewing: isAttended)
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
    return try SessionKeyring.load(vault: vault, state: state, renewing: false) != nil
  }

  /// Keeps the vault unlocked, where there is a keyring.
  static func store(
    _ key: borrowing DeviceUnlockKey, vault: VaultID, timeout: Duration
  ) throws(SessionKeyringError) {
    do {
      try SessionKeyring.store(key, vault: vault, state: state, timeout: timeout)
      SignInNotes.keep(of: vault) { (state) throws(VaultError) in
        try state.noteSession(timeout: timeout)
      }
    } catch {
      if case .unavailable = error { return }
      throw error
    }
  }

  /// Keeps the vault unlocked for the usual time, where a command has other work to do or to tell of: a keyring that refuses is
  /// told, and fails nothing.
  static func keep(_ key: borrowing DeviceUnlockKey, vault: VaultID) {
    do { try store(key, vault: vault, timeout: defaultTimeout) } catch {
      Terminal.note("kinvault: \(error.message)")
    }
  }

  /// Forgets the key, if there is one.
  static func remove(vault: VaultID) throws(SessionKeyringError) {
    do {
      try SessionKeyring.remove(vault: vault, state: state)
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
    guard let file = fopen("/proc/keys", "re") else { return nil }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line {
      // Serial, flags, uses, time, permissions, uid, gid, type, name.
      let fields = String(cString: text).split(whereSeparator: \.isWhitespace)
      guard fields.count > 8, fields[3] != "expd",
        fields[8].hasPrefix(SessionKeyring.description(vault, state))
      else { continue }
      return String(fields[3])
    }
    return nil
  }

  /// Where this machine's state is, in the same words however it was named.
  private static var state: String {
    let root = Environment.stateRoot
    guard let path = realpath(root.string, nil) else { return root.string }
    defer { free(path) }
    return String(cString: path)
  }
}
