import BlobStore
import MachineState
import Threads
import Vault
import VaultSync

/// Files of the vault from the first of several remotes that has them. A remote is opened when it is first asked.
final class RemoteFiles: ObjectSource {
  /// Nobody has the file.
  struct Unavailable: Error {
    /// What the last remote that was asked said.
    var reason: String
  }

  private let remotes: [KnownRemote]
  private let stores = Guarded<[RemoteName: any BlobStore]>([:])

  init(_ remotes: [KnownRemote]) { self.remotes = remotes }

  func fetch(_ path: BlobPath, limit: Int) throws(Unavailable) -> [UInt8] {
    var failure = Unavailable(reason: "there is no remote")
    for remote in remotes {
      do { return try store(of: remote).read(path, limit: limit) } catch {
        failure.reason = "\(remote.name): \(error.message)"
      }
    }
    throw failure
  }

  func read(_ path: BlobPath, limit: Int) -> [UInt8]? {
    // It is asked for what another remote has lost, which is told in any case.
    do { return try fetch(path, limit: limit) } catch { return nil }
  }

  /// Whether one of these remotes surely has the file, and it is so long there.
  func holds(
    _ path: BlobPath, byteCount: UInt64, where isReliable: (RemoteName) -> Bool
  ) -> Bool {
    for remote in remotes where isReliable(remote.name) {
      do {
        if try store(of: remote).size(of: path) == byteCount { return true }
      } catch {
        // Who cannot be asked has nothing surely.
        continue
      }
    }
    return false
  }

  private func store(of remote: KnownRemote) throws(BlobStoreError) -> any BlobStore {
    if let open = stores.withLock({ $0[remote.name] }) { return open }
    let opened = try remote.open()
    return stores.withLock { stores in
      if let other = stores[remote.name] { return other }
      stores[remote.name] = opened
      return opened
    }
  }
}
