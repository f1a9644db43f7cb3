import Vault
import VaultModel

/// What differs, of one record, between what is shown and what is committed.
struct PendingRecord {
  /// No commit has named the record.
  var isNew = false
  var place = false
  /// Where it stood as it showed before that was changed here; nil of one that no commit had named then.
  var seenPlace: RecordPlace?
  var attributes = false
  /// The time of the directory alone.
  var time: TouchedTime?
  /// Names of items that differ, and whether the committed record has an item of this name.
  var items: [FileName: Bool] = [:]
  /// Those items as they showed before they were changed here.
  var seen: [FileName: SeenFile] = [:]

  /// What is left of it when a commit has everything but these items; nil if that is nothing.
  func only(_ isLeft: (FileName) -> Bool) -> PendingRecord? {
    let rest = PendingRecord(
      items: items.filter { isLeft($0.key) }, seen: seen.filter { isLeft($0.key) })
    return rest.items.isEmpty ? nil : rest
  }

  /// Whether nothing differs but the time of the directory, if that does.
  var isOfTimeAlone: Bool { !isNew && !place && !attributes && items.isEmpty }

  /// Adds what differed before `self` began: after a failed commit.
  mutating func join(earlier: PendingRecord) {
    isNew = isNew || earlier.isNew
    place = place || earlier.place
    seenPlace = earlier.isNew ? nil : earlier.seenPlace ?? seenPlace
    attributes = attributes || earlier.attributes
    time = earlier.time ?? time
    items.merge(earlier.items) { _, earlier in earlier }
    seen.merge(earlier.seen) { _, earlier in earlier }
  }
}

/// When names of records in a directory first changed since its time was committed.
struct TouchedTime {
  let since: ContinuousClock.Instant
  /// What the vault said then; nil where a commit was about to say something else.
  let committed: FileTimestamp?
}

/// One member as it is shown: nodes in use, and what is not committed yet. It is part of `TreeState`: whoever has it holds the
/// tree lock. Elsewhere a `ShownMember` stands for it.
final class MemberView {
  let member: Member
  let objects: MemberObjects
  private let news: Changes
  private let saving = MemberSaving()
  /// What the last commit failed to save.
  var unsaved: [Unsaved] = []
  var directories: [RecordID: DirectoryNode] = [:]
  var files: [FileID: FileNode] = [:]
  /// The files that have shown names here as other files. No name of any other one has to be looked for under a derived id.
  var partedFiles: Set<FileID> = []
  /// What the next commit takes.
  var pending: [RecordID: PendingRecord] = [:]
  /// What a commit that is under way has taken.
  var inFlight: [RecordID: PendingRecord] = [:]
  /// Directories whose time differs from what is committed, and is not worth a commit of its own yet.
  var touched: [RecordID: TouchedTime] = [:]
  /// The epoch whose objects what is shown names, but for what is pending.
  var epoch: StatementID
  /// Records that changed and could not be read, or not be shown whole: what was shown of them before still is.
  var unread: Set<RecordID> = []
  /// Files with changes that are not sealed.
  var unsealed: [FileID: FileNode] = [:]
  /// The last names of files that others have taken away, unless something else was made of them here since.
  private var takenNames: [Link: FileID] = [:]
  /// This person's access is over.
  var hasEnded = false

  init(member: Member, objects: MemberObjects) {
    self.member = member
    epoch = member.epoch
    news = Changes(of: member, by: .others)
    self.objects = objects
  }

  /// The member for whoever goes on without the tree lock.
  var shown: ShownMember {
    ShownMember(
      member: member, objects: objects, news: news, saving: saving, view: TreeReference(self))
  }

  /// Why nothing of the member can be saved now; nil when it can, as far as is known.
  var failure: FileError? {
    hasEnded ? .readOnly : unsaved.first { $0.extent == .member }?.error
  }

  /// Whether something was changed that no commit has.
  var holdsUnsaved: Bool { !pending.isEmpty || !inFlight.isEmpty || !unsealed.isEmpty }

  /// Whether a program may have one of its files mapped, and change it there.
  var mayBeMapped: Bool { files.values.contains(where: \.mayBeMapped) }

  /// The records that could not be read so far.
  func takeUnread() -> Set<RecordID> {
    defer { unread = [] }
    return unread
  }

  /// Forgets what is shown of the member, since nobody looks at it any more.
  func letGo() {
    directories = [:]
    files = [:]
    unsealed = [:]
  }

  // MARK: What differs from the last commit

  /// Notes that an item is about to change. To be called *before* the change.
  ///
  /// - Parameter exists: Whether the directory has this file now.
  func willChange(item name: FileName, of record: RecordID, exists: Bool) {
    if pending[record]?.items[name] != nil { return }
    takenNames[Link(record: record, name: name)] = nil
    let isCommitted = inFlight[record]?.items[name] ?? exists
    pending[record, default: PendingRecord()].items[name] = isCommitted
    if inFlight[record]?.items[name] == nil {
      pending[record]?.seen[name] = seenFile(name, in: record)
    }
  }

  /// The file that shows under the name, as it was last committed.
  private func seenFile(_ name: FileName, in record: RecordID) -> SeenFile {
    switch slot(name, in: record) {
    case .stored(let item): SeenFile(item)
    case .node(let file): file.committed
    case nil: .nothing
    }
  }

  /// What stands under a name, as far as it is known. Of a directory that was forgotten here, or not read yet, the files
  /// are known that something else leads to.
  func slot(_ name: FileName, in record: RecordID) -> FileSlot? {
    if let files = directories[record]?.files { return files[name] }
    let link = Link(record: record, name: name)
    return files.values.first { $0.links.contains(link) }.map(FileSlot.node)
  }

  /// Whether the file has changes that no commit has.
  func hasOwnChanges(_ file: FileNode) -> Bool {
    file.hasUncommittedContent || unsealed[file.file] != nil
  }

  /// Notes that an item that was new and never committed is gone.
  func forgetUncommitted(item name: FileName, of record: RecordID) {
    guard pending[record]?.items[name] == false, inFlight[record]?.items[name] == nil else {
      return
    }
    pending[record]?.items[name] = nil
    pending[record]?.seen[name] = nil
  }

  /// Every name of the file is to be written anew.
  func willChange(_ file: FileNode) {
    for link in file.links { willChange(item: link.name, of: link.record, exists: true) }
  }

  func willChange(attributesOf directory: DirectoryNode) {
    pending[directory.record, default: PendingRecord()].attributes = true
  }

  /// Names of records in the directory changed, and so its time. Docs/Format.md, "11. Write order", says when that is written.
  func willChange(timeOf directory: DirectoryNode) {
    let record = directory.record
    guard touched[record] == nil else { return }
    let committed = inFlight[record] == nil ? member.entry(record)?.modified : nil
    touched[record] = TouchedTime(since: .now, committed: committed)
  }

  /// Has the next commit take the times of these directories; of all that wait where none are named.
  func releaseTimes(of records: [RecordID]? = nil) {
    for record in records ?? Array(touched.keys) {
      guard let time = touched.removeValue(forKey: record) else { continue }
      guard directories[record]?.isRemoved == false else { continue }
      pending[record, default: PendingRecord()].time = time
    }
  }

  /// Nobody may write them any more.
  ///
  /// - Returns: The directories that show other times now.
  func forgetTimes() -> [DirectoryNode] {
    let waiting = pending.filter { $0.value.time != nil }
    for (record, change) in waiting {
      if change.isOfTimeAlone { pending[record] = nil } else { pending[record]?.time = nil }
    }
    let records = Set(touched.keys).union(waiting.keys)
    touched = [:]
    return records.compactMap { record in
      guard let node = directories[record], let entry = member.entry(record) else { return nil }
      node.modified = entry.modified
      return node
    }
  }

  /// Notes that a record is about to be renamed, moved or removed. To be called *before* the change.
  func willChange(placeOf directory: DirectoryNode) {
    let change = pending[directory.record] ?? PendingRecord()
    if change.place || change.isNew { return }
    pending[directory.record, default: PendingRecord()].place = true
    pending[directory.record]?.seenPlace = directory.place
  }

  func isPending(_ record: RecordID) -> Bool {
    pending[record] != nil || inFlight[record] != nil
  }

  /// Whether its node has something that no commit has, if only its time.
  func isToBeKept(_ record: RecordID) -> Bool { isPending(record) || touched[record] != nil }

  /// The time that a directory shows when the vault says this one.
  func shownTime(of directory: DirectoryNode, committed: FileTimestamp) -> FileTimestamp {
    let record = directory.record
    // Somebody has set it back, and knew what they did.
    if let before = touched[record]?.committed, committed < before { touched[record] = nil }
    let isOwn =
      touched[record] != nil || pending[record]?.time != nil || inFlight[record]?.time != nil
    return isOwn ? max(directory.modified, committed) : committed
  }

  func isPlacePending(_ record: RecordID) -> Bool {
    if let change = pending[record], change.place || change.isNew { return true }
    if let change = inFlight[record], change.place || change.isNew { return true }
    return false
  }

  func areAttributesPending(of record: RecordID) -> Bool {
    pending[record]?.attributes == true || inFlight[record]?.attributes == true
  }

  func isItemPending(_ name: FileName, of record: RecordID) -> Bool {
    pending[record]?.items[name] != nil || inFlight[record]?.items[name] != nil
  }

  /// Whether something here may still name objects of an epoch that is over.
  var mayNameOldObjects: Bool {
    epoch != member.epoch || !pending.isEmpty || !inFlight.isEmpty || !unsealed.isEmpty
      || files.values.contains { $0.hasUncommittedContent || $0.draft != nil && $0.links.isEmpty }
  }

  // MARK: Names that others have taken away

  /// Others have taken the last name of a file away.
  func noteTaken(_ name: Link, from file: FileNode) {
    file.takenName = name
    takenNames[name] = file.file
  }

  /// The name that the file can have back; nil where something else was made of it here since.
  func takenName(of file: FileNode) -> Link? {
    file.takenName.flatMap { takenNames[$0] == file.file ? $0 : nil }
  }

  /// The file has a name, or nobody refers to it any more.
  func forgetTakenName(of file: FileNode) {
    if let name = takenName(of: file) { takenNames[name] = nil }
    file.takenName = nil
  }

  // MARK: Where records stand

  /// Where a record stands now, pending moves included; nil if there is no such record.
  func place(of record: RecordID) -> RecordPlace? {
    if let node = directories[record] { return node.place }
    guard let entry = member.entry(record) else { return nil }
    return RecordPlace(parent: entry.parent, title: entry.title, isDeleted: entry.isDeleted)
  }

  /// The live records in a directory by the names they show under, and whether one of these is not its title.
  ///
  /// - Parameter isFile: Whether the directory has a file of this name.
  func recordNames(
    in parent: RecordID, isFile: (FileName) -> Bool
  ) -> (names: [FileName: RecordID], areRenamed: Bool) {
    var names: [FileName: RecordID] = [:]
    names.reserveCapacity(member.childCount(of: parent))
    var count = 0
    let add = { (entry: RecordEntry) in
      names[entry.title] = entry.record
      count += 1
    }
    member.visitChildren(of: parent) { if !isPlacePending($0.record) { add($0) } }
    let placed = pendingEntries(in: parent)
    placed.forEach(add)
    let hasClash = names.count < count || names.keys.contains(where: isFile)
    guard hasClash else { return (names, false) }
    let entries = member.children(of: parent).filter { !isPlacePending($0.record) } + placed
    let exceptions = VisibleNames.exceptions(among: entries, isFile: isFile)
    names = [:]
    for entry in entries { names[exceptions[entry.record] ?? entry.title] = entry.record }
    return (names, true)
  }

  /// The records that stand in a directory as far as no commit has it.
  private func pendingEntries(in parent: RecordID) -> [RecordEntry] {
    Set(pending.keys).union(inFlight.keys).filter(isPlacePending).compactMap { record in
      guard let node = directories[record], node.parent == parent, !node.isRemoved else {
        return nil
      }
      return node.entry
    }
  }
}
