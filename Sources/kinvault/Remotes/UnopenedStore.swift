import BlobStore

/// A remote that cannot be opened, for a sync that has something to do without it: whatever is asked of it fails, for the
/// reason why it does not open.
struct UnopenedStore: BlobStore {
  private let reason: BlobStoreError

  init(_ reason: BlobStoreError) { self.reason = reason }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] { throw reason }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    throw reason
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? { throw reason }

  func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    throw reason
  }

  var decidesRaces: Bool { false }

  func remove(_ path: BlobPath) throws(BlobStoreError) { throw reason }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] { throw reason }

  func flush() throws(BlobStoreError) { throw reason }
}
