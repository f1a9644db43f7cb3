import Vault
import VaultModel

extension FileTree {
  /// Catches up with what other processes and devices have committed. What is pending here stays on top.
  package func refresh() {
    do throws(VaultError) {
      // A sync in this process may have opened new ones before.
      let isNew = try vault.refreshMembers()
      if isNew || vault.members.count != state.lock.withLock({ state.views.count }) {
        adoptNewMembers()
      }
    } catch {
      vault.audit.note(.damage, detail: "members")
    }
    for view in state.lock.withLock({ Array(state.views.values) }) {
      do throws(VaultError) {
        _ = try view.member.refresh()
        if !isReadOnly, view.member.hasConcurrentVersions || view.member.hasLateHeads {
          _ = try view.member.joinConcurrent()
        }
        let epoch = view.member.epoch
        // What could not be read before may have been mended, or have come.
        let unread = state.lock.withLock {
          defer { view.unread = [] }
          return view.unread
        }
        apply(view.member.takeChanges().union(unread), to: view)
        state.lock.withLock { view.epoch = epoch }
      } catch {
        vault.audit.note(.damage, member: view.member.id, detail: "heads")
      }
    }
  }

  private func adoptNewMembers() {
    let names = state.lock.withLock {
      let before = Set(state.members.keys)
      state.adopt(vault.members, audit: vault.audit)
      let added = Set(state.members.keys).symmetricDifference(before)
      if !added.isEmpty { state.topChanged = .now() }
      return added
    }
    invalidate(names.map { .entry(parent: Self.root, name: $0) })
  }

  /// Shows what the records are now. No lock may be held.
  func apply(_ records: Set<RecordID>, to view: MemberView) {
    guard !records.isEmpty else { return }
    var invalidations: [Invalidation] = []
    var contents: [(FileNode, Draft, Item)] = []
    let evicted = state.lock.withLock {
      for record in records { applyEntry(of: record, to: view, &invalidations) }
      applyNames(of: records, to: view, &invalidations)
      return state.evictedFiles(records, of: view)
    }
    for record in records {
      applyItems(of: record, to: view, evicted: evicted[record], &invalidations, &contents)
    }
    for (file, draft, item) in contents {
      draft.lock.lock()
      defer { draft.lock.unlock() }
      guard draft.replaceIfUnmodified(by: item.content, size: item.size) else { continue }
      state.lock.withLock { file.adoptContent(of: item) }
      invalidations.append(.content(file.inode))
    }
    invalidate(invalidations)
  }

  /// Places and attributes. The tree lock has to be held.
  private func applyEntry(
    of record: RecordID, to view: MemberView, _ invalidations: inout [Invalidation]
  ) {
    guard let node = view.directories[record], let entry = view.member.entry(record) else { return }
    if !view.isPlacePending(record) {
      node.parent = entry.parent
      node.title = entry.title
      node.isRemoved = entry.isDeleted
    }
    if view.pending[record]?.attributes != true, view.inFlight[record]?.attributes != true {
      node.permissions = entry.mode & FileMode.permissionMask
      node.owner = entry.owner
      node.modified = entry.modified
    }
    node.changed = .now()
    invalidations.append(.attributes(node.inode))
    if record == .root {
      let before = Set(state.members.keys)
      state.nameMembers()
      for name in Set(state.members.keys).symmetricDifference(before) {
        invalidations.append(.entry(parent: Self.root, name: name))
      }
    }
  }

  /// The names of records in the directories that had or have one of these. The tree lock has to be held.
  private func applyNames(
    of records: Set<RecordID>, to view: MemberView, _ invalidations: inout [Invalidation]
  ) {
    let parents = Set(records.compactMap { view.place(of: $0)?.parent })
    for directory in view.directories.values {
      guard let before = directory.records,
        parents.contains(directory.record) || before.values.contains(where: records.contains)
      else { continue }
      directory.records = nil
      let after = state.records(in: directory)
      for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
        invalidations.append(.entry(parent: directory.inode, name: name))
      }
    }
  }

  /// - Parameter evicted: What the kernel was told of a directory that was forgotten here; nil for others.
  private func applyItems(
    of record: RecordID, to view: MemberView, evicted: [FileName: FileNode]?,
    _ invalidations: inout [Invalidation], _ contents: inout [(FileNode, Draft, Item)]
  ) {
    while true {
      let isLoaded = state.lock.withLock { view.directories[record]?.files != nil }
      guard isLoaded || evicted != nil, let entry = view.member.entry(record), !entry.isDeleted
      else { return }
      let items: [Item]
      let xattrs: [Xattr]
      do throws(VaultError) {
        (items, xattrs) = try view.member.contents(of: entry)
      } catch {
        _ = view.objects.failure(error, reading: entry.revision)
        state.lock.withLock { _ = view.unread.insert(record) }
        return
      }
      state.lock.lock()
      defer { state.lock.unlock() }
      guard view.member.entry(record)?.revision == entry.revision else { continue }
      guard let directory = view.directories[record] else { return }
      if let evicted {
        directory.wasEvicted = false
        if directory.files == nil {
          state.recall(evicted, in: directory)
        } else {
          // Somebody has read it again since.
          forget(evicted, in: directory, &invalidations)
        }
      }
      guard directory.files != nil else { return }
      if view.pending[record]?.attributes != true { directory.xattrs = xattrs }
      apply(items, to: directory, &invalidations, &contents)
      return
    }
  }

  /// Has the kernel forget what it may know of a directory beside what is there now: files that are gone, and names that
  /// were not there. The tree lock has to be held.
  private func forget(
    _ evicted: [FileName: FileNode], in directory: DirectoryNode,
    _ invalidations: inout [Invalidation]
  ) {
    for (name, file) in evicted {
      if case .node(let present)? = directory.files?[name], present === file { continue }
      detach(.node(file), name, from: directory)
      invalidations.append(.entry(parent: directory.inode, name: name))
    }
    for name in (directory.files ?? [:]).keys where evicted[name] == nil {
      invalidations.append(.entry(parent: directory.inode, name: name))
    }
  }

  /// The tree lock has to be held.
  private func apply(
    _ items: [Item], to directory: DirectoryNode, _ invalidations: inout [Invalidation],
    _ contents: inout [(FileNode, Draft, Item)]
  ) {
    let view = directory.view
    func isOurs(_ name: FileName) -> Bool { view.isItemPending(name, of: directory.record) }
    var gone = Set((directory.files ?? [:]).keys)
    var changed: Set<FileName> = []
    for item in items {
      gone.remove(item.name)
      if isOurs(item.name) { continue }
      switch directory.files?[item.name] {
      case .stored(let old) where old == item: continue
      case .stored(let old) where old.file == item.file:
        state.setSlot(.stored(item), item.name, in: directory)
      case .node(let file) where file.file == item.file:
        update(file, item, &invalidations, &contents)
      case .node(let file) where view.hasOwnChanges(file):
        // Another device put another file under the name of one that is being written here: ours stays, and the
        // commit keeps theirs as a conflict.
        view.willChange(item: item.name, of: directory.record, exists: true)
      case let old:
        if let old { detach(old, item.name, from: directory) }
        let slot = state.slot(for: item, in: directory)
        state.setSlot(slot, item.name, in: directory)
        // A file that was removed here while something still refers to it, and came back changed.
        if case .node(let file) = slot { update(file, item, &invalidations, &contents) }
        changed.insert(item.name)
        invalidations.append(.entry(parent: directory.inode, name: item.name))
      }
    }
    for name in gone where !isOurs(name) {
      guard let old = directory.files?[name] else { continue }
      if case .node(let file) = old, view.hasOwnChanges(file) {
        view.willChange(item: name, of: directory.record, exists: false)
        continue
      }
      state.setSlot(nil, name, in: directory)
      detach(old, name, from: directory)
      changed.insert(name)
      invalidations.append(.entry(parent: directory.inode, name: name))
    }
    nameAnew(directory, changed, &invalidations)
  }

  /// Records give way to files of their names, and take them again when the files are gone.
  private func nameAnew(
    _ directory: DirectoryNode, _ changed: Set<FileName>, _ invalidations: inout [Invalidation]
  ) {
    guard !changed.isEmpty, let before = directory.records, !before.isEmpty else { return }
    directory.records = nil
    let after = state.records(in: directory)
    for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
      invalidations.append(.entry(parent: directory.inode, name: name))
    }
  }

  private func detach(_ slot: FileSlot, _ name: FileName, from directory: DirectoryNode) {
    guard case .node(let file) = slot else { return }
    file.links.removeAll { $0 == Link(record: directory.record, name: name) }
    file.changed = .now()
    state.collapse(file)
  }

  private func update(
    _ file: FileNode, _ item: Item, _ invalidations: inout [Invalidation],
    _ contents: inout [(FileNode, Draft, Item)]
  ) {
    guard item.changed >= file.fileTime, !file.view.hasOwnChanges(file) else { return }
    let isNewContent = item.content != file.content || item.size != file.contentSize
    let before = file.item(named: item.name)
    file.adopt(item)
    file.unseenLinkRecords.formUnion(
      Set(item.linkRecords).subtracting(file.links.map(\.record)))
    if isNewContent {
      if let draft = file.draft {
        contents.append((file, draft, item))
      } else {
        file.adoptContent(of: item)
        invalidations.append(.content(file.inode))
      }
    } else if before != item {
      invalidations.append(.attributes(file.inode))
    }
  }

  private func invalidate(_ invalidations: [Invalidation]) {
    guard !invalidations.isEmpty, let handler = invalidationHandler.withLock({ $0 }) else { return }
    for invalidation in invalidations { handler(invalidation) }
  }

  /// Has `handler` called with what a cache above has to drop. It is called from several threads, never with a lock held.
  package func setInvalidationHandler(_ handler: @escaping @Sendable (Invalidation) -> Void) {
    invalidationHandler.withLock { $0 = handler }
  }
}
