import BlobStore
import Threads
import VaultCrypto
import VaultModel

/// The objects of one member: content in, digest out, and back.
///
/// A content is one thing in every epoch; under which name its file stands, the keys of the epoch say that it is sealed
/// with. New objects are *staged*: sealed on disk, or in memory while they are small, but named by no commit. `publish`
/// brings them to their place as part of a commit; `settle` or `restage` says how that has ended. Safe to use from any thread; calls run on the caller's thread.
package final class ObjectStore: Sendable {
  let member: MemberID
  let keys: MemberKeys
  let store: any LocalStore
  let staging: Staging?
  let lazy: LazyChunks?
  let buffers: BufferPool
  /// What no commit of this process has taken yet.
  let staged = Guarded(StagedObjects())
  let readers = Guarded(ReaderCache(capacity: openReaderLimit))
  let announced = Guarded(AnnouncedObjects())

  /// - Parameters:
  ///   - staging: Where new objects wait for a commit; nil in a vault opened for reading.
  ///   - lazy: Where chunks are brought from that are not here; nil in a vault that is wholly here.
  ///   - buffers: Such as any sealed chunk fits into.
  package init(
    member: MemberID, keys: MemberKeys, store: any LocalStore, staging: Staging?,
    lazy: LazyChunks?, buffers: BufferPool
  ) {
    self.member = member
    self.keys = keys
    self.store = store
    self.staging = staging
    self.lazy = lazy
    self.buffers = buffers
  }
}

/// What other devices have announced that they will remove.
struct AnnouncedObjects {
  /// What each announcement names that was read.
  var read: [ContentDigest: Set<ObjectName>] = [:]
  /// Those that are not here yet, or damaged: any object may be among what they name.
  var unread: Set<ContentDigest> = []

  func mayName(_ object: ObjectName) -> Bool {
    !unread.isEmpty || read.values.contains { $0.contains(object) }
  }
}
