import BlobStore

@testable import VaultSync

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

  /// One that lists files of so many bytes as if they had 10.
  static func listingLess(_ inner: any BlobStore, thanFilesOf size: UInt64) -> ListingStore {
    ListingStore(inner) { _, entries in
      entries.map { entry in
        guard entry.size == size else { return entry }
        return BlobEntry(
          name: entry.name, kind: entry.kind, size: 10, fingerprint: entry.fingerprint)
      }
    }
  }

  /// One in which somebody has put more folders beside what is in each of these than a look lists.
  static func crowding(
    _ folders: Set<BlobPath> = ["people"], of inner: any BlobStore
  ) -> ListingStore {
    ListingStore(inner) { folder, entries in
      guard folders.contains(folder) else { return entries }
      return entries
        + (0...RemoteLook.nameLimit).map {
          BlobEntry(name: "\($0)", kind: .folder, size: 0, fingerprint: 0)
        }
    }
  }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try forge(folder, try inner.list(folder))
  }
}
