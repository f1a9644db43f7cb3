import Vault
import VaultModel

/// A name of a file: in which record, and what it is called there.
struct Link: Hashable, Sendable {
  let record: RecordID
  let name: FileName
}

/// What stands under a file's name in a loaded directory.
enum FileSlot {
  /// Nobody looks at it: the item as it is, or will be, committed.
  case stored(Item)
  case node(FileNode)
}

/// What can be read of a directory whose list of files is damaged. It is there to look at and to read: whatever would
/// change the directory fails, so that nobody takes what is left for the whole.
struct Salvage {
  let revision: ContentDigest
  let files: [FileName: Item]
  private let found: ReadableItems
  /// When to see whether the damage has been mended.
  private let end: ContinuousClock.Instant

  init(_ found: ReadableItems, of revision: ContentDigest) {
    self.revision = revision
    self.found = found
    files = found.byName
    end = .now + .seconds(1)
  }

  var isFresh: Bool { .now < end }

  /// Whether a file of this name may be in the part that cannot be read.
  func mayLack(_ name: FileName) -> Bool { found.mayLack(name) }
}

/// A record as a directory.
///
/// What it shows is what is committed with what is pending applied; `MemberView.pending` says what differs.
final class DirectoryNode: Node {
  let view: MemberView
  let record: RecordID
  /// Where it stands; nil for a member's root record.
  var parent: RecordID?
  var title: FileName
  var permissions: UInt32
  var isRemoved = false
  /// Whether others have removed it.
  var isTaken = false
  /// The live records in it by the names they show under; nil until needed.
  var records: [FileName: RecordID]?
  /// Whether one of them shows under another name than its title.
  var hasRenamedRecords = false
  /// Names under which records showed before `records` was dropped: a cache above may know them still.
  var formerNames: Set<FileName> = []
  /// The files in it by name; nil until loaded. Then `xattrs` is loaded too.
  var files: [FileName: FileSlot]?
  /// What can be looked at while `files` cannot be loaded; nil until somebody does.
  var salvage: Salvage?
  /// Whether `files` was forgotten since the kernel was told of some: it may still have them.
  var wasEvicted = false
  /// In which order its files are read.
  var sequence = FolderSequence()
  /// In which order its folders are.
  var folderSequence = FolderSequence(namesAhead: FolderSequence.foldersAhead)
  var lastUse: UInt64 = 0

  init(inode: Inode, view: MemberView, entry: RecordEntry) {
    self.view = view
    record = entry.record
    parent = entry.parent
    title = entry.title
    permissions = entry.mode & FileMode.permissionMask
    isRemoved = entry.isDeleted
    super.init(inode: inode, owner: entry.owner, modified: entry.modified, xattrs: [])
  }

  /// A directory that was just made.
  init(
    inode: Inode, view: MemberView, record: RecordID, place: RecordPlace, permissions: UInt32,
    owner: Owner, now: FileTimestamp
  ) {
    self.view = view
    self.record = record
    parent = place.parent
    title = place.title
    self.permissions = permissions
    super.init(inode: inode, owner: owner, modified: now, xattrs: [])
    records = [:]
    files = [:]
  }

  var place: RecordPlace { RecordPlace(parent: parent, title: title, isDeleted: isRemoved) }

  var recordAttributes: RecordAttributes {
    RecordAttributes(mode: permissions, modified: modified, owner: owner, xattrs: xattrs)
  }

  /// The entry that says where it stands; for naming only.
  var entry: RecordEntry {
    RecordEntry(
      record: record, parent: parent, title: title, revision: Self.noRevision,
      version: VersionVector(), time: .zero, device: Self.noDevice)
  }

  private static let noRevision = ContentDigest.zero
  private static let noDevice = DeviceID.zero

  /// What stands under a name, as far as it is loaded or can be read.
  func slot(_ name: FileName) -> FileSlot? {
    files.map { $0[name] } ?? salvage?.files[name].map { .stored($0) }
  }

  /// What its loaded files take of the limit of loaded files.
  var loadedCost: Int { files.map { $0.count + 4 } ?? 0 }

  /// Whether it has neither files nor directories; both have to be loaded.
  var isEmpty: Bool { (records ?? [:]).isEmpty && (files ?? [:]).isEmpty }

  /// The record of this name goes elsewhere: another one that has the same title may show under it from now on.
  func forgetRecord(named name: FileName) {
    if hasRenamedRecords { dropRecords() } else { records?[name] = nil }
  }

  /// The records may show under other names: these are found when they are needed.
  func dropRecords() {
    formerNames.formUnion((records ?? [:]).keys)
    records = nil
  }

  /// Whether a name is taken; both have to be loaded.
  func contains(_ name: FileName) -> Bool { records?[name] != nil || files?[name] != nil }
}
