import BlobStore

/// A store that hands on to another one whatever it does not do itself.
protocol WrappingStore: BlobStore {
  var inner: any BlobStore { get }
}

extension WrappingStore {
  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] { try inner.list(folder) }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    try inner.read(path, limit: limit)
  }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    try inner.read(path, at: offset, count: count)
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? { try inner.size(of: path) }

  func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try inner.put(path, bytes, condition)
  }

  var decidesRaces: Bool { inner.decidesRaces }

  func remove(_ path: BlobPath) throws(BlobStoreError) { try inner.remove(path) }

  func flush() throws(BlobStoreError) { try inner.flush() }
}
