import VaultErrors
import VaultModel

/// A version of a record that lost, as it stands in the member's `Offline Sync Conflicts`.
package struct KeptConflict: Sendable {
  /// The copy, a record of its own.
  package var copy: RecordEntry
  package var mark: ConflictMark
  /// The record that it is a version of, deleted or not; nil if it is no longer known.
  package var original: RecordEntry?
  /// What the copy holds.
  package var items: [Item]
}

extension Member {
  /// The record that holds the versions that lost, whether there is any or not.
  package var conflictFolder: RecordID { ConflictCopy.folder(of: id) }

  /// The versions that lost, are still kept and can be read, newest first.
  ///
  /// A record in the folder that no join made is none of them.
  package func keptConflicts() throws(VaultError) -> [KeptConflict] {
    var found: [KeptConflict] = []
    for copy in children(of: conflictFolder) {
      // One that is damaged keeps nobody from the others.
      let kept: KeptConflict? = try ifWhole(keptConflict(copy)) ?? nil
      if let kept { found.append(kept) }
    }
    return found.sorted { ($0.mark.time, $0.copy.record) > ($1.mark.time, $1.copy.record) }
  }

  /// The records among those that are kept so that cannot be read, so that nobody knows what they are.
  package func unreadableConflicts() throws(VaultError) -> [RecordEntry] {
    var found: [RecordEntry] = []
    for copy in children(of: conflictFolder) {
      let isRead: Void? = try ifWhole { () throws(VaultError) in _ = try keptConflict(copy) }
      if isRead == nil { found.append(copy) }
    }
    return found
  }

  /// Nil for a record that no join made.
  private func keptConflict(_ copy: RecordEntry) throws(VaultError) -> KeptConflict? {
    let revision = try revision(copy.revision)
    guard let mark = ConflictMark(revision.attributes.xattrs) else { return nil }
    return KeptConflict(
      copy: copy, mark: mark, original: entry(mark.record), items: try items(of: revision))
  }

  /// The edits that put what a copy holds back into its record, which is brought back if it was deleted, and throw
  /// the copy away. What the record holds now stays in its history.
  ///
  /// A commit of them fails with `changedMeanwhile` where either has changed since.
  ///
  /// - Throws: `notFound` when the record is no longer known, or was deleted and its place is taken.
  package func edits(
    takingBack conflict: KeptConflict
  ) throws(VaultError) -> [RecordEdit] {
    guard let original = conflict.original else { throw .notFound(what: "the record") }
    var edits: [RecordEdit] = []
    var edit = RecordEdit(record: original.record)
    // Whoever decides has compared the copy with this.
    edit.base = original.revision
    edit.isDecision = true
    if original.isDeleted {
      let undeletion = try RecordRestore(self).undeletion(of: original.record)
      if let left = undeletion.left.first { throw left.error }
      edits = undeletion.edits
      edits.removeAll { $0.record == original.record }
      edit.place = RecordPlace(parent: original.parent, title: original.title)
    }
    let current = try filesByName(of: revision(original.revision))
    for item in conflict.items {
      var item = item
      // The file that it was stays the file that it is.
      item.file = current[item.name]?.file ?? item.file
      item.linkRecords = current[item.name]?.linkRecords ?? []
      edit.items[item.name] = item
    }
    return edits + [edit, discarding(conflict)]
  }

  /// The files that `edits(takingBack:)` does not bring back with a deleted record, as they were deleted one by one before it was,
  /// which is how programs delete a folder.
  ///
  /// - Throws: `notFound` when no revision from before the deletion is kept; what reading the deletion throws.
  package func filesGone(
    before conflict: KeptConflict
  ) throws(VaultError) -> [FileName] {
    guard let original = conflict.original, original.isDeleted else { return [] }
    let before = try RecordRestore(self).revisionBeforeDeletion(of: original.record).revision
    // What cannot be read cannot be brought back either.
    guard let files = try ifWhole(filesByName(of: before)) else { return [] }
    let left = try filesByName(of: revision(original.revision))
    let taken = Set(conflict.items.map(\.name))
    return files.keys.filter { left[$0] == nil && !taken.contains($0) }.sorted()
  }

  /// The edits that throw a copy away; it stays in the history until that is collected. What its record shows of the same
  /// version was not thrown away: it is decided for, so that it is kept when others have replaced it meanwhile. A record that
  /// cannot be read shows nothing.
  ///
  /// A commit of them fails with `changedMeanwhile` where either has changed since.
  ///
  /// - Throws: What reading the record throws, but `missing` and `damaged`.
  package func edits(
    discarding conflict: KeptConflict
  ) throws(VaultError) -> [RecordEdit] {
    guard let original = conflict.original, !original.isDeleted,
      let current = try ifWhole(filesByName(of: revision(original.revision)))
    else { return [discarding(conflict)] }
    var edit = RecordEdit(record: original.record)
    edit.base = original.revision
    edit.isDecision = true
    for item in conflict.items {
      guard let shown = current[item.name], shown.hasContent(of: item) else { continue }
      edit.items[item.name] = shown
    }
    return edit.items.isEmpty ? [discarding(conflict)] : [edit, discarding(conflict)]
  }

  private func discarding(_ conflict: KeptConflict) -> RecordEdit {
    var edit = RecordEdit(
      record: conflict.copy.record,
      place: RecordPlace(
        parent: conflictFolder, title: conflict.copy.title, isDeleted: true))
    edit.base = conflict.copy.revision
    return edit
  }
}
