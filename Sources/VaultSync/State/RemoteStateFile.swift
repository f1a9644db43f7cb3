import BlobStore
import MachineState
import Threads
import Vault
import VaultErrors

/// Where this machine keeps what it remembers of one remote, and the lock that lets one process at a time sync it.
/// Docs/Format.md, "This machine's state".
package struct RemoteStateFile: Sendable {
  private let state: StateFolder
  private let name: RemoteName

  /// - Parameter name: What this machine calls the remote.
  package init(state: StateFolder, remote name: RemoteName) {
    self.state = state
    self.name = name
  }

  private var path: BlobPath { BlobPath("remotes").appending("\(name).state") }

  /// What is remembered; nothing when the file is lost or torn, which only costs time.
  package func load() throws(SyncError) -> RemoteMemory { try loadIfKept() ?? RemoteMemory() }

  /// What is remembered; nil when nothing ever was, or the file is lost or torn.
  package func loadIfKept() throws(SyncError) -> RemoteMemory? {
    // As much as others write: a memory that is too large to be read would forget what was seen, with every sync.
    let bytes = try keeping(state.readIfThere(path, limit: .max))
    return bytes.flatMap { RemoteMemory(decoding: $0) }
  }

  /// Remembers. Does not wait for the disk.
  package func store(_ memory: RemoteMemory) throws(SyncError) {
    do {
      try state.store.replace(path, memory.encoded(), durably: false)
    } catch {
      throw .vault(VaultError(error))
    }
  }

  /// Runs `body` while no other process syncs this remote.
  ///
  /// - Parameter patience: How long to wait for one that does.
  /// - Throws: `busy` when one still does after that.
  package func whileLocked<Value>(
    patience: SyncPatience? = nil, _ body: () throws(SyncError) -> Value
  ) throws(SyncError) -> Value {
    let lock = try lock(patience)
    let value = try body()
    withExtendedLifetime(lock) {}
    return value
  }

  private func lock(_ patience: SyncPatience?) throws(SyncError) -> StateFolder.RemoteLock {
    var lock = try attempt()
    if let patience, !lock.isHeld {
      patience.tell()
      let deadline = ContinuousClock.now + patience.limit
      while !lock.isHeld, ContinuousClock.now < deadline {
        // `flock` waits without a limit or not at all.
        SystemThread.pause(for: .milliseconds(50))
        lock = try attempt()
      }
    }
    guard lock.isHeld else { throw .busy }
    return lock
  }

  private func attempt() throws(SyncError) -> StateFolder.RemoteLock {
    do { return try state.lockRemote(name) } catch { throw .vault(error) }
  }
}
