import VaultErrors
import VaultModel

/// What differs between two revisions of a record.
package enum RecordChange: Hashable, Sendable {
  case created
  case deleted
  case restored
  case renamed(from: FileName)
  case moved(from: RecordID?)
  /// Mode, owner, times or extended attributes of the record itself.
  case attributes
  case added(FileName)
  case removed(FileName)
  case changed(FileName)
  /// A part of the list of files of one of the two cannot be read: what changed there is not known.
  case unreadableFiles
  /// The content stayed; mode, owner, times or extended attributes did not.
  case fileAttributes(FileName)
}

extension Member {
  /// The changes from one revision to a later one, those of files by name; all that is new if there
  /// is no earlier one.
  package func changes(
    from old: RecordRevision?, to new: RecordRevision
  ) throws(VaultError) -> [RecordChange] {
    var changes: [RecordChange] = []
    if let old {
      if old.place.isDeleted != new.place.isDeleted {
        changes.append(new.place.isDeleted ? .deleted : .restored)
      }
      if old.place.title != new.place.title { changes.append(.renamed(from: old.place.title)) }
      if old.place.parent != new.place.parent { changes.append(.moved(from: old.place.parent)) }
    } else {
      changes.append(.created)
    }
    let files = try fileChanges(from: old, to: new)
    changes += files
    // A directory's time changes with its files; that alone is no news.
    if let old, files.isEmpty, old.attributes != new.attributes { changes.append(.attributes) }
    return changes
  }

  private func fileChanges(
    from old: RecordRevision?, to new: RecordRevision
  ) throws(VaultError) -> [RecordChange] {
    let before = try old.map { old throws(VaultError) in try readableItems(of: old) }
    let after = try readableItems(of: new)
    let hasGaps = !after.gaps.isEmpty || !(before?.gaps.isEmpty ?? true)
    let (was, now) = (before?.byName ?? [:], after.byName)
    let names = Set(was.keys).union(now.keys).sorted()
      .filter { !after.mayLack($0) && !(before?.mayLack($0) ?? false) }
    return (hasGaps ? [.unreadableFiles] : [])
      + names.compactMap { Self.change(of: $0, from: was[$0], to: now[$0]) }
  }

  private static func change(of name: FileName, from old: Item?, to new: Item?) -> RecordChange? {
    switch (old, new) {
    case (nil, .some): return .added(name)
    case (.some, nil): return .removed(name)
    case (let was?, let item?):
      if was.size != item.size || was.content != item.content { return .changed(name) }
      let isSame =
        was.mode == item.mode && was.modified == item.modified && was.owner == item.owner
        && was.xattrs == item.xattrs
      return isSame ? nil : .fileAttributes(name)
    case (nil, nil): return nil
    }
  }

  /// The files of a revision by name, `record.md` among them.
  package func filesByName(
    of revision: RecordRevision
  ) throws(VaultError) -> [FileName: Item] {
    // Another `record.md` may stand among the others, as somebody may have written it.
    let items = try items(of: revision).map { ($0.name, $0) }
    return Dictionary(items, uniquingKeysWith: { first, _ in first })
  }
}
