import BlobStore

/// A store whose lists someone else writes.
final class ListingStore: WrappingStore {
  typealias Forge =
    @Sendable (BlobPath, [BlobEntry]) throws(BlobStoreError) -> [BlobEntry]

  let inner: any BlobStore
  private let forge: Forge

  init(_ inner: any BlobStore, forge: @escaping Forge) {
    self.inner = inner
    self.forge = forge
  }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try forge(folder, try inner.list(folder))
  }
}
