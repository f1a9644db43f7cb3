import BlobStore
import Threads
import VaultCrypto
import VaultModel

/// The objects of one member: it takes a content and gives its digest, and gives the content for a digest.
///
/// The digest of a content is the same in every epoch. The name of the file that holds it is not: it depends on the keys of the
/// epoch that the file is sealed with.
///
/// New objects are *staged* first: they are sealed, and lie in the staging folder or, while they are small, in memory. A commit
/// brings those that it names to their places (`publish`), and says at its end whether they stay there (`settle`, `restage`).
///
/// Safe to use from any thread; every call runs on the thread that makes it.
package final class ObjectStore: Sendable {
  let member: MemberID
  let keys: MemberKeys
  let store: any LocalStore
  let staging: Staging?
  let lazy: LazyChunks?
  let buffers: BufferPool
  let readers: ReaderCache
  /// The objects that wait for a commit of this process.
  let staged = Guarded(StagedObjects())
  let announced = Guarded(AnnouncedObjects())

  /// - Parameters:
  ///   - staging: Where new objects wait for a commit; nil in a vault opened for reading.
  ///   - lazy: Where chunks are brought from that are not here; nil in a vault that is wholly here.
  ///   - buffers: Each large enough for any sealed chunk.
  ///   - readers: Where readers are kept, along with those of the vault's other members.
  package init(
    member: MemberID, keys: MemberKeys, store: any LocalStore, staging: Staging?,
    lazy: LazyChunks?, buffers: BufferPool, readers: ReaderCache
  ) {
    self.member = member
    self.keys = keys
    self.store = store
    self.staging = staging
    self.lazy = lazy
    self.buffers = buffers
    self.readers = readers
  }

  // Nobody asks for them any more, and whoever reads with one at this moment has it.
  deinit { readers.removeAll(of: member) }
}

/// The objects that other devices have announced to remove.
struct AnnouncedObjects: Sendable {
  /// Of each announcement that was read, the names in it.
  var read: [ContentDigest: Set<ObjectName>] = [:]
  /// The announcements that are not here yet, or damaged. They may name any object.
  var unread: Set<ContentDigest> = []

  func mayName(_ object: ObjectName) -> Bool {
    !unread.isEmpty || read.values.contains { $0.contains(object) }
  }
}
