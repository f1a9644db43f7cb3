import Log
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors

/// What a command wants to do with the vault.
enum VaultUse {
  /// Looks only. On a folder that cannot be written, and on a full disk, the access is not noted in the audit log.
  case reading
  case writing
}

extension Vault {
  /// An open vault of this machine, with a key that is there already and without a question.
  ///
  /// - Parameters:
  ///   - use: Whoever only looks gets it read-only where its folder cannot be written.
  ///   - acceptsRollback: Whether to go on with a folder that is older than this machine remembers it.
  /// - Throws: `rolledBack` unless that is accepted; what opening throws.
  static func open(
    _ folder: FilePath, key: borrowing DeviceUnlockKey, use: VaultUse, acceptsRollback: Bool,
    log: BackgroundLog = .silent
  ) throws(VaultError) -> Vault {
    let copy = try VaultCopy.here(in: folder)
    var options = OpenOptions(readOnly: false, acceptRollback: acceptsRollback, log: log)
    do {
      let vault = try Vault.open(copy, key: key, options: options)
      if acceptsRollback { MountLog.forgetOlderFolder(of: copy.id) }
      return vault
    } catch {
      switch (use, error) {
      case (.reading, .readOnly), (.reading, .permission), (.reading, .noSpace):
        options.readOnly = true
        return try Vault.open(copy, key: key, options: options)
      default: throw error
      }
    }
  }
}
