import Vault
import VaultModel

/// What comes of a commit.
extension TreeState {
  /// The edits are part of the vault now, but for what of them failed or was held back.
  ///
  /// - Returns: Records of which was not known before that they may have names of files that were written, and those that
  ///   are removed and not empty here.
  mutating func settle(
    _ edits: [RecordEdit], _ commit: Commit, of view: MemberView
  ) -> Set<RecordID> {
    var news: Set<RecordID> = []
    let done = edits.filter { commit.failures[$0.record] == nil }
    for edit in done {
      let heldBack = commit.heldBack[edit.record] ?? [:]
      view.inFlight[edit.record] = view.inFlight[edit.record]?.only { heldBack[$0] != nil }
      // Somebody has set another time since.
      if edit.modified != nil, let node = view.directories[edit.record],
        node.modified != view.member.entry(edit.record)?.modified,
        view.touched[edit.record] == nil
      {
        news.insert(edit.record)
      }
      for (name, item) in edit.items where heldBack[name] == nil {
        let stored = commit.items[edit.record]?[name]
        if view.pending[edit.record]?.items[name] != nil {
          view.pending[edit.record]?.items[name] = item != nil
          view.pending[edit.record]?.seen[name] = edit.seen(name, storedAs: stored)
        }
        guard let item, let stored, let file = view.files[item.file] else { continue }
        if file.content == item.content {
          file.noteCommitted()
          file.commitError = nil
          // An earlier attempt failed, of which nobody has heard yet: nothing of it is true any more.
          if file.draftChanges == nil { file.pendingError = nil }
        }
        news.formUnion(note(item, isStoredAs: stored, under: file))
      }
    }
    for edit in done where letGo(of: edit, in: view) { news.insert(edit.record) }
    evict()
    return news
  }

  /// Lets go of the nodes that an edit has kept, once it is part of the vault.
  ///
  /// - Returns: Whether its record is removed and not empty here.
  private mutating func letGo(of edit: RecordEdit, in view: MemberView) -> Bool {
    for case let item? in edit.items.values {
      if let file = view.files[item.file] { collapse(file) }
    }
    guard let node = view.directories[edit.record] else { return false }
    // What was saved into a record that others have removed meanwhile shows nowhere.
    if node.isRemoved, !(node.files?.isEmpty ?? true) { return true }
    // Also where only times were set: its files may have been let go of while it waited.
    if node.isRemoved || edit.modified != nil { collapse(node) }
    return false
  }

  /// Remembers when a file changed, unless it has changed again, and where the commit found names of it.
  private func note(
    _ item: Item, isStoredAs stored: Item, under file: FileNode
  ) -> Set<RecordID> {
    if file.item(named: item.name).hasState(of: item) {
      // A name that the commit has left out is still to be written as one of a file that changed.
      if item.fileTime == nil, !isInFlight(file) { file.hasOwnState = false }
      if stored.hasState(of: item) { file.committed = SeenFile(stored) }
    }
    return file.learn(stored.linkRecords)
  }

  private func isInFlight(_ file: FileNode) -> Bool {
    file.links.contains { file.view.inFlight[$0.record]?.items[$0.name] != nil }
  }

  /// What was not committed is pending again; open files keep the error for whoever asks.
  mutating func giveBack(
    _ edits: [RecordEdit], _ failures: [Unsaved.Extent: FileError], of view: MemberView
  ) {
    guard !failures.isEmpty else { return }
    for edit in edits {
      guard let change = view.inFlight.removeValue(forKey: edit.record) else { continue }
      view.pending[edit.record, default: PendingRecord()].join(earlier: change)
      for case (let name, let item?) in edit.items where change.items[name] != nil {
        let error =
          failures[.member] ?? failures[.record(edit.record)] ?? failures[.file(edit.record, name)]
        if let error, let file = view.files[item.file], file.openCount > 0 {
          file.pendingError = error
          file.commitError = error
          file.failedCommitCount += 1
        }
      }
    }
    committer.noteChange()
  }
}

extension RecordEdit {
  /// What shows under a name, as far as whoever has changed it once more since has seen it: of what the commit found there of
  /// others, and kept, they have seen nothing.
  fileprivate func seen(_ name: FileName, storedAs stored: Item?) -> SeenFile {
    guard let stored, let item = items[name] ?? nil, !stored.hasState(of: item) else {
      return stored.map(SeenFile.init) ?? .nothing
    }
    return seen[name] ?? .nothing
  }
}
