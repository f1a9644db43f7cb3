import Threads

/// Counts the calls that reach the store behind it, and their bytes both ways.
package final class CountingStore: BlobStore {
  /// Since the store was made, or since another count was taken: `later - earlier`.
  package struct Counts: Hashable, Sendable {
    package var reads = 0
    package var puts = 0
    /// `size`, `list`, steps of a walk and `remove`.
    package var others = 0
    package var bytesRead: UInt64 = 0
    package var bytesPut: UInt64 = 0

    package init() {}

    package var calls: Int { reads + puts + others }

    package static func - (a: Counts, b: Counts) -> Counts {
      var difference = a
      difference.reads -= b.reads
      difference.puts -= b.puts
      difference.others -= b.others
      difference.bytesRead -= b.bytesRead
      difference.bytesPut -= b.bytesPut
      return difference
    }
  }

  private let inner: any BlobStore
  private let state = Guarded(Counts())

  package init(_ inner: any BlobStore) {
    self.inner = inner
  }

  package var counts: Counts { state.withLock { $0 } }

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    state.withLock { $0.reads += 1 }
    return counted(try inner.read(path, limit: limit))
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    state.withLock { $0.reads += 1 }
    return counted(try inner.read(path, at: offset, count: count))
  }

  private func counted(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { $0.bytesRead += UInt64(bytes.count) }
    return bytes
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    state.withLock {
      $0.puts += 1
      $0.bytesPut += UInt64(bytes.count)
    }
    try inner.put(path, bytes, condition)
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    state.withLock { $0.others += 1 }
    return try inner.size(of: path)
  }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    state.withLock { $0.others += 1 }
    try inner.remove(path)
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    state.withLock { $0.others += 1 }
    return try inner.list(folder)
  }

  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    state.withLock { $0.others += 1 }
    return try inner.page(position)
  }

  package var decidesRaces: Bool { inner.decidesRaces }

  package func flush() throws(BlobStoreError) {
    try inner.flush()
  }
}
