import Synchronization
import VaultModel

/// Whether a cache above the tree may hold some of a file's content. Every read asks for it, without a lock.
final class CacheMark: Sendable {
  let isSet = Atomic<Bool>(false)
  /// Whether it may have got some since it was told last to write and drop all that it had of a file that may be mapped.
  let isSetAnew = Atomic<Bool>(false)
}

/// A file, fifo, socket or symlink that someone looks at. The draft's content has a lock of its own.
final class FileNode: Node {
  let view: MemberView
  let file: FileID
  /// Its names; none when it was removed while open.
  var links: [Link]
  /// The last of its names, where others have taken that away.
  var takenName: Link?
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
  /// The file as it was last committed, by whomever.
  var committed: SeenFile
  /// Whether its content or attributes have changed since.
  var hasOwnState = false
  /// False for a new file until its first flush; until then no commit has it.
  var isPublished: Bool
  /// Whether `content` is newer than the last commit.
  var hasUncommittedContent = false
  /// The records of which the items of its names say that they may hold names of it.
  private(set) var linkRecords: Set<RecordID>
  /// Those of them that were not looked at yet.
  var unseenLinkRecords: Set<RecordID>
  /// The content in use; there while it is open, and for as long as anything can open it when it has no name.
  var draft: Draft?
  /// When the draft was first and last changed since it was last sealed, in monotonic time.
  var draftChanges: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
  /// Whether whoever wrote was told that what changed since could not be sealed.
  var isToldUnsealed = false
  /// Whether a cache above the tree may hold some of the content; there since the file was first opened.
  var cacheMark: CacheMark?
  /// Whether a program may have it mapped and change it there: somebody has opened it for reading and writing since it was open
  /// last.
  var mayBeMapped = false
  /// A failure that nobody was told of yet.
  var pendingError: FileError?
  /// How many commits could not save it so far.
  var failedCommitCount = 0
  /// Why the last commit could not; nil once one has.
  var commitError: FileError?

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
    committed = SeenFile(item)
    isPublished = true
    linkRecords = Set(item.linkRecords)
    unseenLinkRecords = linkRecords
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
      unknown: unknown, fileTime: hasOwnState ? nil : committed.changed)
  }

  /// Whether it has no name any more, nobody has it open, and nothing was changed that no commit has: another file may have its id.
  var isLeft: Bool { links.isEmpty && draft == nil && !hasOwnState && !view.hasOwnChanges(self) }

  /// Whether an item of this file's id is a name of this file: `Item.isName`, for all names that are known here.
  func hasName(_ item: Item, in record: RecordID) -> Bool {
    if links.contains(Link(record: record, name: item.name)) { return true }
    let isSame =
      hasOwnState || view.hasOwnChanges(self)
      || item.hasState(of: self.item(named: item.name))
    return isSame && isLinked(to: item, in: record)
  }

  /// Whether an item of this file's id is a name of this file by the records that hold its names, whatever the item shows.
  func isLinked(to item: Item, in record: RecordID) -> Bool {
    if links.isEmpty || links.contains(Link(record: record, name: item.name)) { return true }
    return linkRecords.contains(record) && links.contains { item.linkRecords.contains($0.record) }
  }

  /// Adds a name that an item gives it.
  func add(_ link: Link, knowing records: [RecordID]) {
    if links.isEmpty {
      view.forgetTakenName(of: self)
      comeBack()
    }
    if !links.contains(link) { links.append(link) }
    learn(records)
  }

  /// What was written before its last name went is no more than what others read of it before: what is committed counts.
  private func comeBack() {
    guard view.unsealed[file] == nil else { return }
    if openCount == 0 { draft = nil }
    hasOwnState = false
    isPublished = true
    noteCommitted()
  }

  /// These records may hold names of it.
  ///
  /// - Returns: Those of which that was not known.
  @discardableResult
  func learn(_ records: [RecordID]) -> Set<RecordID> {
    let new = Set(records).subtracting(linkRecords)
    linkRecords.formUnion(new)
    unseenLinkRecords.formUnion(new.subtracting(links.map(\.record)))
    return new
  }

  /// A record changed of which nothing is loaded: which names of this file it holds has to be seen again.
  func lookAgain(in record: RecordID) {
    guard linkRecords.contains(record) else { return }
    if links.contains(where: { $0.record != record }) { links.removeAll { $0.record == record } }
    unseenLinkRecords.insert(record)
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
    committed = SeenFile(item)
  }

  /// Takes over the content that another process or device committed.
  func adoptContent(of item: Item) {
    content = item.content
    contentSize = item.size
    size = item.size
    dataByteCount = item.dataByteCount
    noteCommitted()
  }

  /// Takes over all that was committed, unless it is in use or changed here.
  ///
  /// - Returns: What a cache above has to drop.
  func catchUp(with item: Item) -> Invalidation? {
    guard draft == nil, !hasOwnState, !view.hasOwnChanges(self) else { return nil }
    let before = self.item(named: item.name)
    adopt(item)
    adoptContent(of: item)
    if !item.hasContent(of: before) { return .content(inode) }
    return item.hasState(of: before) ? nil : .attributes(inode)
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
