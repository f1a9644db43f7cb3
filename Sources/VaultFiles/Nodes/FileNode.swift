import Synchronization
import VaultModel

/// A file, fifo, socket or symlink that someone looks at. All fields are protected by the tree lock, except
/// the draft's content, which has a lock of its own.
final class FileNode: Node, @unchecked Sendable {
  let view: MemberView
  let file: FileID
  /// Its names; none when it was removed while open.
  var links: [Link]
  /// `st_mode`.
  var mode: UInt32
  /// The size with everything that was written.
  var size: UInt64
  /// In bytes, holes not counted.
  var dataByteCount: UInt64
  /// What a commit writes: the content of the last flush.
  var content: Item.Content
  /// The objects that `content` needs, as far as a commit may not have them.
  var objects: [StoredObject] = []
  var contentSize: UInt64
  var mediaType: String
  var unknown: UnknownFields
  /// When the item was last changed as committed.
  var time: HybridTime
  /// When the file was last changed as committed.
  var fileTime: HybridTime
  /// Whether its content or attributes have changed since.
  var hasOwnState = false
  /// False for a new file until its first flush; until then no commit has it.
  var isPublished: Bool
  /// Whether `content` is newer than the last commit.
  var hasUncommittedContent = false
  /// Records that may hold more names of this file, not looked at yet.
  var unseenLinkRecords: Set<RecordID>
  /// The content in use; there while it is open, and for as long as anything can open it when it has no name.
  var draft: Draft?
  /// When the draft was first and last changed since it was last sealed, in monotonic time.
  var draftChanges: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
  /// Whether a cache above the tree may hold some of the content. Its own lock, as every read asks for it.
  let mayBeCached = Atomic<Bool>(false)
  /// A failure that nobody was told of yet.
  var pendingError: FileError?

  /// A file as it is stored.
  init(inode: Inode, view: MemberView, item: Item, in record: RecordID) {
    self.view = view
    file = item.file
    links = [Link(record: record, name: item.name)]
    mode = item.mode
    size = item.size
    dataByteCount = item.dataByteCount
    content = item.content
    contentSize = item.size
    mediaType = item.mediaType
    unknown = item.unknown
    time = item.time
    fileTime = item.changed
    isPublished = true
    unseenLinkRecords = Set(item.linkRecords)
    super.init(inode: inode, owner: item.owner, modified: item.modified, xattrs: item.xattrs)
  }

  var type: UInt32 { mode & FileMode.typeMask }

  /// What chown(2) and writing do to a program that runs with its owner's rights: nobody lends those to new content.
  func dropPrivileges() { mode &= mode & 0o010 == 0 ? ~0o4000 : ~0o6000 }

  /// What a commit writes under one of its names.
  func item(named name: FileName) -> Item {
    let records = Set(links.map(\.record)).union(unseenLinkRecords)
    return Item(
      name: name, file: file, size: contentSize, mode: mode, modified: modified,
      mediaType: mediaType, content: content, time: time, isDeleted: false, xattrs: xattrs,
      linkRecords: links.count > 1 || records.count > 1 ? records.sorted() : [], owner: owner,
      unknown: unknown, fileTime: hasOwnState ? nil : fileTime)
  }

  /// Whether an item of this file's id shows the file as it is here: a well-formed lie, or names that nobody has
  /// settled yet, may not.
  func stands(for item: Item) -> Bool {
    hasOwnState || view.hasOwnChanges(self) || item.hasState(of: self.item(named: item.name))
  }

  /// Takes over what another process or device committed, except the content in use.
  func adopt(_ item: Item) {
    mode = item.mode
    owner = item.owner
    modified = item.modified
    changed = max(changed, item.modified)
    xattrs = item.xattrs
    mediaType = item.mediaType
    unknown = item.unknown
    time = item.time
    fileTime = item.changed
  }

  /// Takes over the content that another process or device committed.
  func adoptContent(of item: Item) {
    content = item.content
    contentSize = item.size
    size = item.size
    dataByteCount = item.dataByteCount
    noteCommitted()
  }

  /// A commit has `content`.
  func noteCommitted() {
    hasUncommittedContent = false
    objects = []
  }
}

extension Item {
  /// Bytes that are known not to be holes; the holes of files of many chunks are not known from the item alone.
  var dataByteCount: UInt64 {
    guard case .chunks(let names) = content else { return size }
    let holes = names.lazy.filter { $0 == nil }.count
    return size - min(size, UInt64(holes * Limits.chunkBytes))
  }
}
