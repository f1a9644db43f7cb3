import VaultErrors
import VaultModel

/// Brings back what a record was: an older revision, a deleted record, a deleted file.
///
/// Only plans: what is to be done is an edit, so that nothing of the present is lost from the history.
package struct RecordRestore {
  /// A folder is deleted file by file: revisions as close together as this belong to one deletion.
  private static let deletionGap: UInt64 = 60_000

  let member: Member

  package init(_ member: Member) { self.member = member }

  /// The edit that gives a record the files, note and attributes of an older revision. Where the record
  /// is and what it is called stays, unless it is deleted. What another device makes of the files between this and the commit
  /// becomes a conflict.
  ///
  /// - Throws: `notFound` for an unknown record; `missing`, `damaged` of the older revision.
  package func edit(
    of record: RecordID, to revision: RecordRevision
  ) throws(VaultError) -> RecordEdit {
    guard let entry = member.entry(record) else { throw .notFound(what: "the record") }
    let current = try member.readableItems(of: try member.revision(entry.revision))
    let wanted = try member.filesByName(of: revision)
    var edit = RecordEdit(record: record, attributes: revision.attributes)
    edit.leavesOutUnreadable = true
    for item in current.items where wanted[item.name] == nil {
      edit.items.updateValue(nil, forKey: item.name)
    }
    let present = current.byName
    for (name, item) in wanted {
      edit.items[name] = item
      // A name that comes back to a file that has others is a name of that file as it is now.
      if present[name]?.file != item.file, !item.linkRecords.isEmpty {
        edit.unchangedFiles[name] = item.changed
      }
    }
    // What cannot be read was not seen.
    for name in edit.items.keys where !current.mayLack(name) {
      edit.seen[name] = present[name].map(SeenFile.init) ?? .nothing
    }
    if entry.isDeleted {
      edit.place = RecordPlace(parent: entry.parent, title: entry.title, isDeleted: false)
    }
    return edit
  }

  /// What a record was before it was deleted.
  ///
  /// A program that deletes a folder deletes its files one after the other, so the newest revision that
  /// is not deleted may be half empty; this looks for the one before all of that.
  ///
  /// - Throws: `notFound` when no such revision is kept; `damaged` when the one before all of that may be one that cannot be read.
  package func revisionBeforeDeletion(
    of record: RecordID
  ) throws(VaultError) -> NamedRevision {
    guard let entry = member.entry(record) else { throw .notFound(what: "the record") }
    // A version that is not joined may stand between two steps of the deletion, and is none of them.
    let history = try member.history(from: [entry.revision])
    let live = history.firstIndex { !$0.revision.place.isDeleted }
    if let damage = damage(before: history[..<(live ?? history.count)]) { throw damage }
    guard var best = live else {
      throw .notFound(
        what:
          "a version of the record from before it was deleted. Such versions go after 90 days with kinvault collect, and "
          + "at once when a member is encrypted anew without its history; a backup of the vault may have it"
      )
    }
    var later = best > 0 ? history[best - 1].revision.time : history[best].revision.time
    // From the deletion back through a burst of revisions that only lost files.
    while true {
      let time = history[best].revision.time
      guard later.milliseconds - time.milliseconds <= Self.deletionGap else { break }
      if let damage = damage(before: history[best...best]) { throw damage }
      guard best + 1 < history.count,
        try isPartOfDeletion(history[best].revision, after: history[best + 1].revision)
      else { break }
      later = time
      best += 1
    }
    return history[best]
  }

  private func damage(before versions: ArraySlice<NamedRevision>) -> VaultError? {
    versions.lazy.compactMap { member.damage(before: $0.revision) }.first
  }

  /// Whether the step to `new` did nothing but remove files.
  private func isPartOfDeletion(
    _ new: RecordRevision, after old: RecordRevision
  ) throws(VaultError) -> Bool {
    guard !old.place.isDeleted else { return false }
    let changes = try member.changes(from: old, to: new)
    return changes.contains { if case .removed = $0 { true } else { false } }
      && changes.allSatisfy { if case .removed = $0 { true } else { false } }
  }

  /// The edits that bring back a deleted record as it was in an older revision, without what was below it; those above it
  /// too, where they are deleted.
  ///
  /// - Throws: As `undeletion(of:)`.
  package func edits(
    undeleting record: RecordID, as revision: RecordRevision
  ) throws(VaultError) -> [RecordEdit] {
    let edits = try edits(makingRoomFor: deletedEntry(of: record))
    return try edits + [edit(of: record, to: revision)]
  }

  private func deletedEntry(of record: RecordID) throws(VaultError) -> RecordEntry {
    guard let entry = member.entry(record), entry.isDeleted else {
      throw .notFound(what: "the deleted record")
    }
    return entry
  }

  /// The edits that bring back what is deleted above a deleted record, from the top down.
  ///
  /// - Throws: `alreadyExists` if something has taken the place of one of them, or of the record.
  func edits(makingRoomFor entry: RecordEntry) throws(VaultError) -> [RecordEdit] {
    var edits: [RecordEdit] = []
    var next = entry.parent
    while let id = next, id != .root, edits.count < 1000, let above = member.entry(id),
      above.isDeleted
    {
      try checkIsFree(above)
      edits.append(
        RecordEdit(
          record: id,
          place: RecordPlace(parent: above.parent, title: above.title, isDeleted: false)))
      next = above.parent
    }
    try checkIsFree(entry)
    return edits.reversed()
  }

  private func checkIsFree(_ entry: RecordEntry) throws(VaultError) {
    guard let parent = entry.parent else { return }
    let isTaken = member.children(of: parent).contains { $0.title == entry.title }
    let isFile = try member.hasFile(named: entry.title, in: parent)
    if isTaken || isFile {
      throw .alreadyExists(what: "something where the record was; rename or move that first")
    }
  }

  /// The newest kept version of a file that the record no longer has.
  ///
  /// - Throws: `notFound` when no kept revision has it; `damaged` when one that cannot be read may have a newer one.
  package func deletedFile(
    named name: FileName, of record: RecordID
  ) throws(VaultError) -> Item {
    for version in try member.history(of: record) {
      if let item = try member.item(named: name, of: version.revision) { return item }
      if let damage = member.damage(before: version.revision) { throw damage }
    }
    throw .notFound(what: "a revision in which the record had this file")
  }
}
