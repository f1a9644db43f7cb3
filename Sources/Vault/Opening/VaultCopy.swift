import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

import struct SystemPackage.FilePath

/// A copy of a vault, and what this machine keeps of it: all that there is before somebody opens it, and all that goes on
/// being there.
package struct VaultCopy: Sendable {
  /// As its `vault.json` says.
  package let id: VaultID
  package let store: any LocalStore
  /// Nil for a vault that lies in no folder (tests).
  let folder: FilePath?
  package let state: StateFolder
  package let clock: WallClock
  let binding: Binding
  let files: SignedFiles

  package init(
    id: VaultID, store: any LocalStore, folder: FilePath? = nil, state: StateFolder,
    clock: WallClock = .system
  ) {
    (self.id, self.store, self.folder, self.state, self.clock) = (id, store, folder, state, clock)
    binding = Binding(vault: id)
    files = SignedFiles(store: store, binding: binding)
  }

  /// The one that lies in a folder.
  ///
  /// - Parameter stateRoot: Below which this machine keeps its state of every vault.
  /// - Throws: `notAVault`, `unsupported`; `permission` or `io` where the folder cannot be looked into.
  package static func find(
    in folder: FilePath, stateRoot: FilePath, clock: WallClock = .system
  ) throws(VaultError) -> VaultCopy {
    let store = try Vault.openFolder(folder)
    let id = try Vault.describe(store: store, folder: folder.string).vault
    return VaultCopy(
      id: id, store: store, folder: folder, state: try StateFolder.open(root: stateRoot, vault: id),
      clock: clock)
  }

  /// What becomes a new vault, in an empty or missing folder.
  ///
  /// - Throws: `folderNotEmpty`, `permission`, `readOnly`, `noSpace`, `io`.
  package static func make(
    in folder: FilePath, stateRoot: FilePath, clock: WallClock = .system
  ) throws(VaultError) -> VaultCopy {
    let store = try storing(DirectoryStore.make(folder))
    guard try storing(store.list(.root)).isEmpty else {
      throw .folderNotEmpty(folder: folder.string)
    }
    let id = VaultID.random()
    return VaultCopy(
      id: id, store: store, folder: folder, state: try StateFolder.open(root: stateRoot, vault: id),
      clock: clock)
  }

  /// The one that lies in a folder, or what becomes one in an empty or missing folder.
  ///
  /// - Throws: `otherVault`, `folderNotEmpty`, `unsupported`, `permission`, `readOnly`, `noSpace`, `io`.
  package static func findOrMake(
    _ id: VaultID, in folder: FilePath, stateRoot: FilePath, clock: WallClock = .system
  ) throws(VaultError) -> VaultCopy {
    let store = try storing(DirectoryStore.make(folder))
    let names = try storing(store.list(.root)).map(\.name)
    if names.contains(VaultPath.vault.string) {
      guard try Vault.describe(store: store, folder: folder.string).vault == id else {
        throw .otherVault(folder: folder.string)
      }
    } else if !names.isEmpty {
      throw .folderNotEmpty(folder: folder.string)
    }
    return VaultCopy(
      id: id, store: store, folder: folder, state: try StateFolder.open(root: stateRoot, vault: id),
      clock: clock)
  }
}

extension VaultCopy {
  /// Whether this machine is a device of the vault, or was one before it was removed.
  ///
  /// One that asked to become a device and was never approved is none. Nor is one whose file is damaged: nothing can open that
  /// any more.
  package func hasDevice() throws(VaultError) -> Bool {
    let file: DeviceFile
    do { file = try state.loadDevice(vault: id) } catch {
      switch error {
      case .noDeviceHere, .damagedSlot: return false
      default: throw error
      }
    }
    let people = try People.load(store: store, files: files, memory: state.loadPeopleMemory())
    return people[file.person]?.anyCertificate(of: file.device) != nil
  }
}
