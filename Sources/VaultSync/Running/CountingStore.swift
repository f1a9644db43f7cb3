import BlobStore
import Threads

/// Counts what goes to a store and comes from it.
final class CountingStore: BlobStore {
  private let inner: any BlobStore
  private let counts = Guarded(SyncTraffic())

  init(_ inner: any BlobStore) { self.inner = inner }

  var traffic: SyncTraffic { counts.withLock { $0 } }

  private func count(_ change: (inout SyncTraffic) -> Void) { counts.withLock { change(&$0) } }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    count { $0.readCount += 1 }
    let bytes = try inner.read(path, limit: limit)
    count { $0.readByteCount += UInt64(bytes.count) }
    return bytes
  }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    self.count { $0.readCount += 1 }
    let bytes = try inner.read(path, at: offset, count: count)
    self.count { $0.readByteCount += UInt64(bytes.count) }
    return bytes
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    count { $0.sizeCount += 1 }
    return try inner.size(of: path)
  }

  func put(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition)
    throws(BlobStoreError)
  {
    count { $0.putCount += 1 }
    try inner.put(path, bytes, condition)
    count { $0.putByteCount += UInt64(bytes.count) }
  }

  var decidesRaces: Bool { inner.decidesRaces }

  func remove(_ path: BlobPath) throws(BlobStoreError) {
    count { $0.removeCount += 1 }
    try inner.remove(path)
  }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    count { $0.listCount += 1 }
    return try inner.list(folder)
  }

  func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    count { $0.listCount += 1 }
    return try inner.page(position)
  }

  func flush() throws(BlobStoreError) { try inner.flush() }
}
