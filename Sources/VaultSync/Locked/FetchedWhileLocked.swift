import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// What was fetched from a remote while the vault was locked, for whoever forgets that remote.
package struct FetchedWhileLocked {
  private let vault: VaultCopy
  private let remote: RemoteName
  private let incoming: IncomingFolder

  package init(of vault: VaultCopy, from remote: RemoteName) {
    (self.vault, self.remote) = (vault, remote)
    incoming = IncomingFolder(vault.state, vault: vault.id, remote: remote)
  }

  package static func isEmpty(
    in state: StateFolder, from remote: RemoteName
  ) throws(SyncError) -> Bool {
    do { return try state.store.list(IncomingFolder.path(of: remote)).isEmpty } catch {
      throw .vault(VaultError(error))
    }
  }

  private func isEmpty() throws(SyncError) -> Bool { try saving(try incoming.isEmpty()) }

  /// Whether a sync with the keys has not taken all of it yet: a head or register in it is newer than the one in the
  /// vault's folder, or a statement is not there at all.
  package func holdsNews() throws(SyncError) -> Bool {
    if try isEmpty() { return false }
    let home = try SyncHome.closed(vault)
    let tree = try home.tree()
    for path in try signedFiles() {
      switch path {
      case .head, .device:
        guard let counter = try incoming.counter(of: path, tree),
          try counter > tree.storedCounter(of: path)
        else { continue }
      default:
        guard try saving(try home.store.size(of: BlobPath(path.string))) == nil else { continue }
      }
      return true
    }
    return false
  }

  /// Forgets all of it, while no other process syncs with the remote.
  ///
  /// - Throws: `busy` when one still does after so long.
  package func forget(patience: SyncPatience) throws(SyncError) {
    if try isEmpty() { return }
    try RemoteStateFile(state: vault.state, remote: remote).whileLocked(patience: patience) {
      () throws(SyncError) in try saving(try incoming.clear())
    }
  }

  private func signedFiles() throws(SyncError) -> [VaultPath] {
    var found: [VaultPath] = []
    do {
      try incoming.walk(under: .root, entering: { !$0.string.hasSuffix("/objects") }) {
        path, entry in
        if !entry.isFolder, let path, let file = VaultPath(parsing: path.string) {
          found.append(file)
        }
        return .goOn
      }
    } catch {
      throw .vault(VaultError(error))
    }
    return found
  }
}
