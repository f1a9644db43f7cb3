import BlobStore
import Vault
import VaultModel

/// Ciphertext that was fetched from a remote while the vault was locked, in this machine's state: the tree of a vault,
/// of which nothing is trusted before it is verified. Docs/Format.md, "This machine's state".
///
/// A sync that has the keys looks here before it asks the remote.
struct IncomingFolder: BlobStore {
  private let store: any LocalStore
  private let folder: BlobPath

  init(state: StateFolder, remote: RemoteName) {
    store = state.files
    folder = BlobPath("incoming").appending(remote.string)
  }

  /// Forgets everything in it.
  func clear() throws(BlobStoreError) { try store.removeFolder(folder) }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    try store.read(inside(path), limit: limit)
  }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    try store.read(inside(path), at: offset, count: count)
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try store.size(of: inside(path))
  }

  func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try store.put(inside(path), bytes, condition)
  }

  var decidesRaces: Bool { store.decidesRaces }

  func remove(_ path: BlobPath) throws(BlobStoreError) { try store.remove(inside(path)) }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try store.list(inside(folder))
  }

  func flush() throws(BlobStoreError) { try store.flush() }

  private func inside(_ path: BlobPath) -> BlobPath {
    path.isRoot ? folder : BlobPath("\(folder)/\(path)")
  }
}
