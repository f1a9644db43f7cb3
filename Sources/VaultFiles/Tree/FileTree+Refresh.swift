import Log
import Synchronization
import Threads
import Vault
import VaultErrors
import VaultModel

/// Where a look at what others have written may fail.
struct LookTrouble: Hashable, Sendable {
  /// Nil for the list of members.
  let member: MemberID?
  let action: AuditAction
}

/// What others have made of a file that is in use.
struct NewContent {
  let file: TreeReference<FileNode>
  let draft: Draft
  let item: Item
  /// When the file had last changed as it showed when that was read.
  let before: HybridTime
}

extension FileTree {
  /// Catches up with what other processes and devices have committed. What is pending here stays on top.
  package func refresh() {
    do {
      // A sync in this process may have opened new ones before.
      _ = try vault.refreshMembers()
      // Also of the same ones the names may be others: another process has given one the name of another.
      renewNames(adopts: true)
      log.succeeded(.refresh)
      tell(nil, of: .damage)
    } catch {
      log.failed(.refresh, error)
      tell("members", of: .damage)
    }
    for shown in members {
      let member = shown.member
      do {
        _ = try member.refresh()
        joinConcurrent(of: member)
        let epoch = member.epoch
        // What could not be read before may have been mended, or have come.
        let unread = withTree { tree in tree[shown.view].takeUnread() }
        apply(shown.news.take().union(unread), to: shown)
        let isWhole = withTree { tree in
          tree[shown.view].epoch = epoch
          return tree[shown.view].unread.isEmpty
        }
        log.succeeded(.refresh, of: LogIdentity(member.id))
        if isWhole { log.succeeded(.reading, of: LogIdentity(member.id)) }
        tell(nil, of: .damage, in: member.id)
      } catch {
        // Of a member that is only shown for what was not saved nothing more is expected.
        if !withTree({ $0[shown.view].hasEnded }) {
          log.failed(.refresh, error, of: LogIdentity(member.id))
          tell("heads", of: .damage, in: member.id)
        }
      }
    }
  }

  /// Joins what devices wrote without knowing of each other. Where that fails, as on a full disk, one of the versions
  /// shows, as in a mount that begins now; it is tried again at the next look.
  private func joinConcurrent(of member: Member) {
    guard !isReadOnly, member.isToBeJoined else {
      return tell(nil, of: .unsaved, in: member.id)
    }
    do {
      _ = try member.joinConcurrent(waits: false)
      log.succeeded(.join, of: LogIdentity(member.id))
      tell(nil, of: .unsaved, in: member.id)
    } catch {
      log.failed(.join, error, of: LogIdentity(member.id))
      tell(FileError(error).cause, of: .unsaved, in: member.id)
    }
  }

  /// Notes in the audit log what a look at what others have written could not do, once for as long as it is so.
  ///
  /// - Parameters:
  ///   - trouble: Nil when all is well.
  ///   - member: The one concerned; nil for the list of members.
  private func tell(_ trouble: String?, of action: AuditAction, in member: MemberID? = nil) {
    let isNew = lookTrouble.withLock { known in
      let place = LookTrouble(member: member, action: action)
      defer { known[place] = trouble }
      return trouble != nil && known[place] != trouble
    }
    if isNew { vault.audit.note(action, member: member, detail: trouble ?? "") }
  }

  /// `nameMembers`, and has a cache above drop the names under which others show than before. Whoever comes first finds what
  /// several have changed, and nobody finds it again.
  ///
  /// - Parameter own: Names that the cache above has asked to be changed: it knows of these.
  func renewNames(
    adopts: Bool = false, given: (name: FileName, member: MemberID)? = nil,
    besides own: Set<FileName> = []
  ) {
    let (changed, areOthers) = nameMembers(adopts: adopts, given: given)
    invalidate(changed.subtracting(own).map { .entry(parent: Self.root, name: $0) })
    // What was changed in a member that ended cannot be saved, and whoever asks is told.
    if areOthers { committer.noteChange() }
  }

  /// Shows what the records are now. No lock may be held.
  func apply(_ records: Set<RecordID>, to shown: ShownMember) {
    guard !records.isEmpty else { return }
    var changes = ShownChanges()
    withTree { tree in
      let view = tree[shown.view]
      for record in records { tree.applyEntry(of: record, to: view, &changes.invalidations) }
      tree.applyNames(of: records, to: view, &changes.invalidations)
      tree.lookAgain(in: records, of: view)
    }
    if records.contains(.root) { renewNames() }
    var waiting = records
    while !waiting.isEmpty {
      let news = news(of: waiting, in: shown)
      changes.read.formUnion(waiting)
      waiting = withTree { tree in tree.show(news, in: tree[shown.view], &changes) }
    }
    for new in changes.contents where !takesOverLater(new) && takeOver(new) {
      changes.invalidations.append(.content(withTree { $0[new.file].inode }))
    }
    invalidate(changes.invalidations)
  }

  /// Has a cache above write first what programs have changed in mappings of the file, of which nothing is known here: a file
  /// that had taken over what others made of it would have these pages written over that. What comes of it is a change like
  /// any other, so ours stays and the commit keeps theirs. Where the cache has got something anew when that is done, a program
  /// may have changed it already: then the next look takes over.
  ///
  /// - Returns: False where the file can have no such mapping, or nothing is cached above: it may take over at once.
  private func takesOverLater(_ new: NewContent) -> Bool {
    guard let writeBack = writeBackHandler.withLock({ $0 }) else { return false }
    let inode: Inode? = withTree { tree in
      let file = tree[new.file]
      return file.mayBeMapped ? file.inode : nil
    }
    guard let inode else { return false }
    writeBack(inode) { [weak self] write in
      guard let self else { return }
      let mark = withTree { $0[new.file].cacheMark }
      mark?.isSetAnew.store(false, ordering: .releasing)
      write()
      if takeOver(new) { invalidate([.content(inode)]) }
    }
    return true
  }

  /// Has a file in use show what others made of it, unless it was changed here: whoever writes has the draft's lock.
  private func takeOver(_ new: NewContent) -> Bool {
    new.draft.content.withLock { content in
      guard !content.isModified else { return false }
      if content.isAwaited {
        // What somebody is about to write goes on from what is there now, and the commit keeps theirs. Where nothing comes of
        // it the next look takes over.
        withTree { $0.lookAgain(at: new) }
        return false
      }
      guard withTree({ $0.takeOver(new) }) else { return false }
      return content.replaceIfUnmodified(by: new.item.content, size: new.item.size)
    }
  }

  func invalidate(_ invalidations: [Invalidation]) {
    guard !invalidations.isEmpty, let handler = invalidationHandler.withLock({ $0 }) else { return }
    for invalidation in invalidations { handler(invalidation) }
  }

  /// Has `handler` called with what a cache above has to drop. It is called from several threads, never with the tree lock held,
  /// and has to return at once: a request may wait for it.
  package func setInvalidationHandler(_ handler: @escaping @Sendable (Invalidation) -> Void) {
    invalidationHandler.withLock { $0 = handler }
  }

  /// Calls `body` with what has a cache above write what was changed in mappings of a file, and drop all that it has of it;
  /// never, where the cache is gone. For one file there is one such call at a time.
  package typealias WriteBack =
    @Sendable (_ inode: Inode, _ body: @escaping @Sendable (_ write: () -> Void) -> Void) -> Void

  /// Has `handler` called before a file that somebody may have mapped takes over what others made of it. It is called with locks
  /// held that the file's writes and commits need: it has to return at once, and to call `body` on a thread for which nobody
  /// waits.
  package func setWriteBackHandler(_ handler: @escaping WriteBack) {
    writeBackHandler.withLock { $0 = handler }
  }
}

extension TreeState {
  /// Places and attributes.
  fileprivate mutating func applyEntry(
    of record: RecordID, to view: MemberView, _ invalidations: inout [Invalidation]
  ) {
    guard let node = view.directories[record], let entry = view.member.entry(record) else { return }
    if !view.isPlacePending(record) {
      node.parent = entry.parent
      node.title = entry.title
      node.isTaken = entry.isDeleted && (node.isTaken || !node.isRemoved)
      node.isRemoved = entry.isDeleted
      if node.isRemoved { view.touched[record] = nil }
    }
    if !view.areAttributesPending(of: record) {
      node.permissions = entry.mode & FileMode.permissionMask
      node.owner = entry.owner
      node.modified = view.shownTime(of: node, committed: entry.modified)
    }
    node.changed = .now
    invalidations.append(.attributes(node.inode))
  }

  /// The names of records in the directories that had or have one of these.
  fileprivate mutating func applyNames(
    of records: Set<RecordID>, to view: MemberView, _ invalidations: inout [Invalidation]
  ) {
    let parents = Set(records.compactMap { view.place(of: $0)?.parent })
    for directory in view.directories.values {
      let known = directory.records ?? [:]
      if parents.contains(directory.record) || !directory.formerNames.isEmpty
        || known.values.contains(where: records.contains)
      {
        renewRecords(in: directory, &invalidations)
      }
    }
  }

  /// Has the next look find what others made of a file.
  func lookAgain(at new: NewContent) {
    let file = self[new.file]
    file.view.unread.formUnion(file.links.map(\.record))
  }

  /// Has a file take over what others made of it, unless its content was changed here since that was read. To be called
  /// with the lock of its draft, which has no changes.
  ///
  /// - Returns: Whether it has.
  func takeOver(_ new: NewContent) -> Bool {
    let file = self[new.file]
    guard !file.view.hasOwnChanges(file),
      file.committed.changed <= max(new.before, new.item.changed)
    else {
      return false
    }
    // What a cache above holds of a file that may be mapped, it may write at any time over what is taken over.
    let isCached = file.mayBeMapped && file.cacheMark?.isSetAnew.load(ordering: .acquiring) == true
    guard nodes[file.inode] === file, file.draft == nil || file.draft === new.draft, !isCached
    else {
      // It was closed, and forgotten or opened again, or is read: the next look finds it.
      lookAgain(at: new)
      return false
    }
    // Its attributes may have been changed here since.
    if !file.hasOwnState { file.adopt(new.item) }
    file.adoptContent(of: new.item)
    return true
  }
}
