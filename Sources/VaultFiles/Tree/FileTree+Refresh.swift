import Vault
import VaultModel

extension FileTree {
  /// Catches up with what other processes and devices have committed. What is pending here stays on top.
  package func refresh() {
    do throws(VaultError) {
      // A sync in this process may have opened new ones before.
      _ = try vault.refreshMembers()
      adoptMembers()
    } catch {
      vault.audit.note(.damage, detail: "members")
    }
    for view in views {
      do throws(VaultError) {
        _ = try view.member.refresh()
        joinConcurrent(of: view)
        let epoch = view.member.epoch
        // What could not be read before may have been mended, or have come.
        let unread = state.lock.withLock {
          defer { view.unread = [] }
          return view.unread
        }
        apply(view.member.takeChanges().union(unread), to: view)
        state.lock.withLock { view.epoch = epoch }
      } catch {
        // Of a member that is only shown for what was not saved nothing more is expected.
        if !state.lock.withLock({ view.hasEnded }) {
          vault.audit.note(.damage, member: view.member.id, detail: "heads")
        }
      }
    }
  }

  /// Joins what devices wrote without knowing of each other. Where that fails, as on a full disk, one of the versions
  /// shows, as in a mount that begins now; it is tried again at the next look.
  private func joinConcurrent(of view: MemberView) {
    guard !isReadOnly, view.member.isToBeJoined else { return }
    do throws(VaultError) { _ = try view.member.joinConcurrent() } catch {
      vault.audit.note(.unsaved, member: view.member.id, detail: FileError(error).cause)
    }
  }

  private func adoptMembers() {
    let members = vault.members
    let changed: Set<FileName>? = state.lock.withLock {
      guard !state.shows(members) else { return nil }
      let before = state.members
      state.adopt(members, audit: vault.audit)
      let after = state.members
      let names = Set(before.keys).union(after.keys).filter { before[$0] !== after[$0] }
      if !names.isEmpty { state.topChanged = .now() }
      return names
    }
    guard let changed else { return }
    invalidate(changed.map { .entry(parent: Self.root, name: $0) })
    // What was changed in a member that ended cannot be saved, and whoever asks is told.
    committer.noteChange()
  }

  /// Shows what the records are now. No lock may be held.
  func apply(_ records: Set<RecordID>, to view: MemberView) {
    guard !records.isEmpty else { return }
    var changes = ShownChanges()
    state.lock.withLock {
      for record in records { applyEntry(of: record, to: view, &changes.invalidations) }
      applyNames(of: records, to: view, &changes.invalidations)
      state.lookAgain(in: records, of: view)
    }
    var waiting = records
    while !waiting.isEmpty {
      let news = news(of: waiting, in: view)
      changes.read.formUnion(waiting)
      waiting = state.lock.withLock { show(news, in: view, &changes) }
    }
    for (file, draft, item) in changes.contents {
      draft.lock.lock()
      defer { draft.lock.unlock() }
      guard draft.replaceIfUnmodified(by: item.content, size: item.size) else { continue }
      state.lock.withLock { file.adoptContent(of: item) }
      changes.invalidations.append(.content(file.inode))
    }
    invalidate(changes.invalidations)
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

  private func invalidate(_ invalidations: [Invalidation]) {
    guard !invalidations.isEmpty, let handler = invalidationHandler.withLock({ $0 }) else { return }
    for invalidation in invalidations { handler(invalidation) }
  }

  /// Has `handler` called with what a cache above has to drop. It is called from several threads, never with a lock held.
  package func setInvalidationHandler(_ handler: @escaping @Sendable (Invalidation) -> Void) {
    invalidationHandler.withLock { $0 = handler }
  }
}
