import Vault
import VaultModel

extension FileTree {
  /// How long a file that stays open is not written before it is sealed all the same.
  private static let quietTime = Duration.seconds(5)
  /// How long changes of a file that is written all the time wait at most.
  private static let longestWait = Duration.seconds(30)

  /// Starts the threads that commit changes, look for those of others, and thin what was written.
  package func start() {
    vault.keepOldObjects { [state] member in
      state.lock.withLock { state.views[member.id]?.mayNameOldObjects ?? false }
    }
    committer.start { [self] in
      while true {
        let task = committer.nextTask(
          commitDelay: options.commitDelay, pollInterval: options.pollInterval)
        switch task {
        case .stop: return
        case .commit: commitInBackground()
        case .poll: poll()
        }
      }
    }
    startThinning()
  }

  /// Stops the threads and commits everything, what is open included.
  ///
  /// - Throws: what `commitNow` throws.
  package func stop() throws(FileError) {
    thinner.stop()
    committer.stop()
    try commitNow()
    // What cannot be thinned now another mount or `collect` removes.
    do throws(FileError) { try thinAtLast() } catch {}
  }

  /// Seals and commits everything, what is open included. Durable when it returns.
  ///
  /// - Throws: the first failure, also when only one file is not saved; the rest is committed all the same.
  package func commitNow() throws(FileError) {
    guard !isReadOnly else { return }
    var failure: FileError?
    for view in views {
      do throws(FileError) {
        try seal(view) { _ in true }
        try commit(view)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure = failure ?? unsaved.first?.error { throw failure }
  }

  /// Makes durable what was done to the names in a directory. At the top: commits everything, of all members, as
  /// `commitNow` does.
  package func syncDirectory(_ inode: Inode) throws(FileError) {
    guard !isReadOnly else { return }
    if inode == Self.root { return try commitNow() }
    let node = try state.lock.withLock { () throws(FileError) in try directory(inode) }
    try makeDurable(node.view)
    let unsaved = state.lock.withLock {
      node.view.unsaved.first { $0.extent.record == node.record }
    }
    if let unsaved { throw unsaved.error }
  }

  /// Returns when everything of the member that was pending is on disk, in a commit or where the next process finds
  /// it, but for what `MemberView.unsaved` names; shares the wait with others who ask.
  func makeDurable(_ view: MemberView) throws(FileError) {
    guard hasChanges(view) else { return }
    try view.syncs.run { () throws(FileError) in
      try view.writing.withLock { () throws(FileError) in
        if try !log(view) { try commitOnce(view) }
      }
    }
  }

  /// Whether there is something that no commit has.
  private func hasChanges(_ view: MemberView) -> Bool {
    view.member.hasLogged
      || state.lock.withLock { !view.pending.isEmpty || !view.inFlight.isEmpty }
  }

  /// Makes durable what is pending, which stays pending.
  ///
  /// - Returns: False if it has to be committed.
  private func log(_ view: MemberView) throws(FileError) -> Bool {
    guard !view.mustCommit else { return false }
    let pending = state.lock.withLock { pendingEdits(of: view) }
    defer { withExtendedLifetime(pending.objects) {} }
    do throws(VaultError) { return try view.member.log(pending.edits) } catch {
      throw FileError(error)
    }
  }

  /// Returns when everything of the member that was pending is in the vault, but for what `MemberView.unsaved` names;
  /// shares a commit with others who ask.
  func commit(_ view: MemberView) throws(FileError) {
    try view.commits.run { () throws(FileError) in
      try view.writing.withLock { () throws(FileError) in try commitOnce(view) }
    }
  }

  var views: [MemberView] { state.lock.withLock { Array(state.views.values) } }

  // MARK: In the background

  private func commitInBackground() {
    guard !isReadOnly else { return }
    for view in views {
      guard hasChanges(view) else { continue }
      do throws(FileError) {
        try commit(view)
      } catch {
        // What was not committed stays pending, files were told; it is tried again after the usual delay.
        committer.noteChange()
      }
    }
  }

  private func poll() {
    for view in views where !isReadOnly {
      view.member.objects.removeUnused()
      do throws(FileError) {
        let now = ContinuousClock.now
        try seal(view) { changes in
          changes.last + Self.quietTime <= now || changes.first + Self.longestWait <= now
        }
      } catch {
        // The file keeps the error for its next flush; its content stays in memory.
      }
    }
    do throws(VaultError) { try vault.redoWhatCrashesLeft() } catch {
      // It is looked for again at the next poll.
    }
    refresh()
    do throws(VaultError) { try vault.removeOldObjects() } catch {
      // They are looked for again at the next poll.
    }
    for view in views { view.member.objects.forgetRemoved() }
    do throws(VaultError) { try vault.audit.flushIfDue() } catch {
      // It keeps what it could not write, and is asked again at the next poll.
    }
  }

  /// Seals files of which `condition` says so.
  private func seal(
    _ view: MemberView,
    where condition: (_ changes: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)) ->
      Bool
  ) throws(FileError) {
    let due = state.lock.withLock {
      view.unsealed.values.compactMap { file -> (FileNode, Draft)? in
        guard let changes = file.draftChanges, condition(changes), let draft = file.draft else {
          return nil
        }
        return (file, draft)
      }
    }
    var failure: FileError?
    for (file, draft) in due {
      do throws(FileError) { try publish(file, draft) } catch {
        failure = failure ?? error
        state.lock.withLock { file.pendingError = error }
      }
    }
    if let failure { throw failure }
  }

  // MARK: One commit

  /// A failure of the whole is thrown. What concerns one record or file only keeps nothing else from being committed:
  /// that stays pending, its open files have the error for whoever asks, and it is tried again.
  private func commitOnce(_ view: MemberView) throws(FileError) {
    view.member.objects.removeUnused()
    let pending = state.lock.withLock { collectEdits(of: view) }
    guard !pending.edits.isEmpty || view.member.hasLogged else { return note([:], of: view) }
    // What replaces these contents meanwhile does not take their objects away.
    defer { withExtendedLifetime(pending.objects) {} }
    view.mustCommit = true
    do throws(VaultError) {
      let commit = try view.member.commit(pending.edits, foldsRedo: true)
      let failures = failures(of: commit)
      let news = settle(pending.edits, commit, of: view)
      giveBack(pending.edits, failures, of: view)
      view.thinning.note(pending.edits.lazy.map(\.record))
      apply(view.member.takeChanges().union(news), to: view)
      view.mustCommit = !failures.isEmpty
      note(failures, of: view)
    } catch {
      let failure = FileError(error)
      giveBack(pending.edits, [.member: failure], of: view)
      note([.member: failure], of: view)
      throw failure
    }
  }

  private func failures(of commit: Commit) -> [Unsaved.Extent: FileError] {
    var failures: [Unsaved.Extent: FileError] = [:]
    for (record, error) in commit.failures { failures[.record(record)] = FileError(error) }
    for (record, items) in commit.heldBack {
      for (name, error) in items { failures[.file(record, name)] = FileError(error) }
    }
    return failures
  }

  /// What waits for a commit.
  private struct Pending {
    var edits: [RecordEdit] = []
    /// The objects that the edits need, as far as no commit has them.
    var objects: [[StoredObject]] = []
    /// What still waits when the edits are committed.
    var remaining: [RecordID: PendingRecord] = [:]
  }

  /// What is pending, as edits; moves it from `pending` to `inFlight`. The tree lock has to be held.
  private func collectEdits(of view: MemberView) -> Pending {
    let pending = pendingEdits(of: view)
    for edit in pending.edits { view.inFlight[edit.record] = view.pending[edit.record] }
    view.pending = pending.remaining
    return pending
  }

  /// What is pending, as edits. The tree lock has to be held.
  private func pendingEdits(of view: MemberView) -> Pending {
    var pending = Pending()
    for (record, change) in view.pending {
      guard let node = view.directories[record] else {
        preconditionFailure("a directory that changed is kept until it is committed")
      }
      if change.isNew, node.isRemoved { continue }
      var edit = RecordEdit(record: record, isNew: change.isNew)
      edit.seen = change.seen
      edit.hasAllNames = true
      if change.place || change.isNew { edit.place = node.place }
      if change.attributes || change.isNew { edit.attributes = node.recordAttributes }
      var later = PendingRecord()
      for (name, isCommitted) in change.items {
        switch view.slot(name, in: record) {
        case .stored(let item):
          edit.items[name] = item
          edit.unchangedFiles[name] = item.fileTime
        case .node(let file) where file.isPublished:
          edit.items[name] = file.item(named: name)
          if !file.hasOwnState { edit.unchangedFiles[name] = file.fileTime }
          // Where others may have given it a name meanwhile the commit looks for itself.
          if !file.unseenLinkRecords.isEmpty { edit.hasAllNames = false }
          if !file.objects.isEmpty { pending.objects.append(file.objects) }
        case .node:
          // Never flushed: nobody counts on it yet. What it replaced is gone.
          later.items[name] = isCommitted
          if isCommitted { edit.items.updateValue(nil, forKey: name) }
        case nil:
          // Only of a directory that is here it can be said that a name is gone.
          if isCommitted, node.files != nil { edit.items.updateValue(nil, forKey: name) }
        }
      }
      if !later.items.isEmpty { pending.remaining[record] = later }
      if edit.place != nil || edit.attributes != nil || !edit.items.isEmpty {
        pending.edits.append(edit)
      }
    }
    return pending
  }

  /// The edits are part of the vault now, but for what of them failed or was held back.
  ///
  /// - Returns: Records of which was not known before that they may have names of files that were written, and those that
  ///   are removed and not empty here.
  private func settle(
    _ edits: [RecordEdit], _ commit: Commit, of view: MemberView
  ) -> Set<RecordID> {
    state.lock.lock()
    defer { state.lock.unlock() }
    var news: Set<RecordID> = []
    let done = edits.filter { commit.failures[$0.record] == nil }
    for edit in done {
      let heldBack = commit.heldBack[edit.record] ?? [:]
      view.inFlight[edit.record] = view.inFlight[edit.record]?.only { heldBack[$0] != nil }
      for (name, item) in edit.items where heldBack[name] == nil {
        let stored = commit.items[edit.record]?[name]
        if view.pending[edit.record]?.items[name] != nil {
          view.pending[edit.record]?.items[name] = item != nil
          view.pending[edit.record]?.seen[name] = stored?.changed ?? .zero
        }
        guard let item, let stored else { continue }
        if let file = view.files[item.file] {
          if file.content == item.content {
            file.noteCommitted()
            // An earlier attempt failed, of which nobody has heard yet: nothing of it is true any more.
            if file.draftChanges == nil { file.pendingError = nil }
          }
          news.formUnion(note(item, isStoredAs: stored, under: file))
        }
      }
    }
    for edit in done {
      for case let item? in edit.items.values {
        if let file = view.files[item.file] { state.collapse(file) }
      }
      if let node = view.directories[edit.record], node.isRemoved {
        // What was saved into a record that others have removed meanwhile shows nowhere.
        if node.files?.isEmpty ?? true { state.collapse(node) } else { news.insert(edit.record) }
      }
    }
    state.evict(limit: options.loadedItemLimit)
    return news
  }

  /// Remembers when a file changed, unless it has changed again, and where the commit found names of it.
  private func note(
    _ item: Item, isStoredAs stored: Item, under file: FileNode
  ) -> Set<RecordID> {
    if file.item(named: item.name).hasState(of: item) {
      if item.fileTime == nil { file.hasOwnState = false }
      if stored.hasState(of: item) { file.fileTime = stored.changed }
    }
    return file.learn(stored.linkRecords)
  }

  /// What was not committed is pending again; open files keep the error for whoever asks.
  private func giveBack(
    _ edits: [RecordEdit], _ failures: [Unsaved.Extent: FileError], of view: MemberView
  ) {
    guard !failures.isEmpty else { return }
    state.lock.lock()
    defer { state.lock.unlock() }
    for edit in edits {
      guard let change = view.inFlight.removeValue(forKey: edit.record) else { continue }
      view.pending[edit.record, default: PendingRecord()].join(earlier: change)
      for case (let name, let item?) in edit.items where change.items[name] != nil {
        let error =
          failures[.member] ?? failures[.record(edit.record)] ?? failures[.file(edit.record, name)]
        if let error, let file = view.files[item.file], file.openCount > 0 {
          file.pendingError = error
        }
      }
    }
    committer.noteChange()
  }
}
