import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// A copy of a vault, and what this machine keeps of it: all that there is before somebody opens it, and all that goes on
/// being there.
struct VaultCopy: Sendable {
  let id: VaultID
  let store: any LocalStore
  /// Nil for a vault that lies in no folder (tests).
  let folder: FilePath?
  let state: StateFolder
  let clock: WallClock
  let binding: Binding
  let files: SignedFiles

  init(
    id: VaultID, store: any LocalStore, folder: FilePath? = nil, state: StateFolder,
    clock: WallClock
  ) {
    (self.id, self.store, self.folder, self.state, self.clock) = (id, store, folder, state, clock)
    binding = Binding(vault: id)
    files = SignedFiles(store: store, binding: binding)
  }

  /// The one that lies in a folder.
  ///
  /// - Throws: `notAVault`, `unsupported`.
  static func find(
    in folder: FilePath, stateRoot: FilePath, clock: WallClock
  ) throws(VaultError) -> VaultCopy {
    let store: DirectoryStore
    do { store = try DirectoryStore(opening: folder) } catch {
      throw .notAVault(folder: folder.string)
    }
    let id = try Vault.describe(store: store, folder: folder.string).vault
    return VaultCopy(
      id: id, store: store, folder: folder, state: try StateFolder(root: stateRoot, vault: id),
      clock: clock)
  }
}
