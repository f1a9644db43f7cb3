import BlobStore
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// What a sync keeps on this machine.
extension StateFolder {
  /// This machine's device and its person, which is known without being unlocked.
  ///
  /// - Throws: `noDeviceHere`, `damagedSlot`.
  package func owner(
    in vault: VaultID
  ) throws(VaultError) -> (person: PersonID, device: DeviceID) {
    let file = try loadDevice(vault: vault)
    return (file.person, file.device)
  }

  /// The right to sync one remote, until it goes out of scope.
  package struct RemoteLock: ~Copyable {
    private let lock: FileLock?
    /// False while another process has it.
    package let isHeld: Bool

    init(_ lock: consuming FileLock?, isHeld: Bool) {
      self.lock = lock
      self.isHeld = isHeld
    }
  }

  /// Tries at once to be the only process that syncs the remote of this name.
  package func lockRemote(_ name: RemoteName) throws(VaultError) -> RemoteLock {
    guard let path else { return RemoteLock(nil, isHeld: true) }
    let store = self.store
    let mark = BlobPath("remotes").appending("\(name).lock")
    let lock = try storing { () throws(BlobStoreError) in
      // Makes the folder, too.
      if try store.size(of: mark) == nil { try store.replace(mark, [], durably: false) }
      return try FileLock.attempt(at: path.appending(mark.string))
    }
    let isHeld = lock != nil
    return RemoteLock(lock, isHeld: isHeld)
  }
}
