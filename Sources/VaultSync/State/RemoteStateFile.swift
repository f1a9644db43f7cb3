import BlobStore
import Vault

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
    do throws(BlobStoreError) {
      let bytes = try state.files.read(path, limit: RemoteMemory.byteLimit)
      return RemoteMemory(decoding: bytes)
    } catch {
      switch error {
      case .notFound, .tooLarge: return nil
      default: throw .vault(VaultError(error))
      }
    }
  }

  /// Remembers. Does not wait for the disk.
  package func store(_ memory: RemoteMemory) throws(SyncError) {
    do throws(BlobStoreError) {
      try state.files.replace(path, memory.encoded(), durably: false)
    } catch {
      throw .vault(VaultError(error))
    }
  }

  /// Runs `body` while no other process syncs this remote.
  ///
  /// - Throws: `busy` when one does.
  package func whileLocked<Value>(
    _ body: () throws(SyncError) -> Value
  ) throws(SyncError) -> Value {
    let lock: StateFolder.RemoteLock
    do throws(VaultError) { lock = try state.lockRemote(name) } catch { throw .vault(error) }
    guard lock.isHeld else { throw .busy }
    let value = try body()
    withExtendedLifetime(lock) {}
    return value
  }
}
