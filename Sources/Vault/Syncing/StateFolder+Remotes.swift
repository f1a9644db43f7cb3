import BlobStore

/// What a sync keeps on this machine.
extension StateFolder {
  /// The folder itself.
  package var files: any LocalStore { store }

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
  package func lockRemote(_ name: String) throws(VaultError) -> RemoteLock {
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
