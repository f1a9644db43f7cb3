import MachineState
import Vault
import VaultCrypto
import VaultModel
import VaultObjects
import VaultSync

/// Lets a lazy vault get chunks from this machine's remotes.
enum LazyAccess {
  /// Points the vault at the remotes.
  ///
  /// - Throws: `usage` for a vault that is wholly here.
  static func prepare(_ vault: Vault, key: borrowing DeviceUnlockKey) throws {
    guard let chunks = vault.lazyChunks else {
      throw CommandError.usage(
        "This vault is wholly on this machine; nothing of it is kept on a remote only.")
    }
    let remotes = try KnownRemote.whole(of: vault.id, key: key)
    guard !remotes.isEmpty else { throw KnownRemote.none }
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault.id)
    chunks.setSource(RemoteChunks(RemoteFiles(remotes.map(\.place)), state: state))
  }

  /// Does so if the vault is lazy and there are remotes.
  static func prepareIfLazy(_ vault: Vault, key: borrowing DeviceUnlockKey) throws {
    guard vault.lazyChunks != nil else { return }
    guard try !RemoteRegistry.here(vault: vault.id).readable().whole.isEmpty else { return }
    try prepare(vault, key: key)
  }

  /// The records that a person named; each member's root when nothing is named.
  static func targets(
    _ names: [String], in vault: Vault
  ) throws -> [(member: Member, record: RecordID)] {
    if names.isEmpty { return vault.members.map { ($0, .root) } }
    return try names.map { text in
      if let name = FileName(text), let member = vault.member(named: name) {
        return (member, .root)
      }
      let found = try RecordLookup(vault: vault).record(text)
      return (found.member, found.record)
    }
  }
}
