import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// A file's content and attributes are one thing, however many names it has: `Docs/Format.md` section 10, "Files of
/// several names".
extension CommitWriter {
  private struct Name {
    let record: RecordID
    let item: Item
  }

  /// Gives every name of the files that were met in several states the latest one, and keeps what lost and shows under no
  /// name.
  mutating func settleFiles() throws(VaultError) {
    let met = metFiles
    metFiles = [:]
    let names = try names(of: met)
    var changes: [RecordID: [Item]] = [:]
    for (file, states) in met.sorted(by: { $0.key < $1.key }) {
      guard let names = names[file],
        let newest = states.newest(among: names.map(\.item))
      else { continue }
      let records = names.count > 1 ? Set(names.map(\.record)) : []
      for name in names {
        var item = name.item.knowing(records)
        if !item.hasState(of: newest) {
          item = item.taking(stateOf: newest)
          try noteReplaced(name, by: newest, states)
        }
        if item != name.item { changes[name.record, default: []].append(item) }
      }
    }
    for (record, items) in changes.sorted(by: { $0.key < $1.key }) {
      let isSet = try unlessUnreadable { (writer) throws(VaultError) in
        try writer.set(items, in: record)
      }
      if !isSet { changes[record] = nil }
    }
    try keepLost { item in
      names[item.file]?.contains { name in
        let new = changes[name.record]?.first { $0.name == name.item.name }
        return (new ?? name.item).hasContent(of: item)
      } ?? false
    }
  }

  /// The live items of these files, found by what each of them says of the others, and tombstones of where they went.
  private func names(of met: [FileID: MetFile]) throws(VaultError) -> [FileID: [Name]] {
    var names: [FileID: [Name]] = [:]
    var waiting = Array(met.values.reduce(into: Set<RecordID>()) { $0.formUnion($1.records) })
    var seen = Set(waiting)
    while let record = waiting.popLast() {
      guard let entry = entry(record), !entry.isDeleted else { continue }
      let items: [Item]
      do {
        items = try itemsAndTombstones(of: member.revision(entry.revision))
      } catch {
        switch error {
        // What cannot be read cannot be changed either; who can read it settles it.
        case .damaged, .missing, .limit: continue
        default: throw error
        }
      }
      for item in items where met[item.file] != nil {
        if !item.isDeleted {
          names[item.file, default: []].append(Name(record: record, item: item))
        }
        waiting += item.linkRecords.filter { seen.insert($0).inserted }
      }
    }
    return names.mapValues { $0.sorted { ($0.record, $0.item.name) < ($1.record, $1.item.name) } }
  }

  private func itemsAndTombstones(of revision: RecordRevision) throws(VaultError) -> [Item] {
    let items = try pages(member.loadPage) { load in
      var tree = revision.items
      return try tree.all(load: load)
    }
    return items + [revision.document].compactMap(\.self)
  }

  /// Keeps the content that a name had, unless whoever wrote the later state had seen it, or it is kept already.
  private mutating func noteReplaced(
    _ name: Name, by newest: Item, _ states: MetFile
  ) throws(VaultError) {
    let isKnown =
      newest.hasContent(of: name.item)
      || states.known.contains { $0.hasContent(of: name.item) }
      || lost.contains { $0.items.contains { $0.hasContent(of: name.item) } }
    guard !isKnown, let entry = entry(name.record) else { return }
    let revision = NamedRevision(try member.revision(entry.revision), named: entry.revision)
    let known = try ifWhole(RevisionJoin(member: member).author(of: .item(name.item), in: revision))
    let author = known ?? revision.revision.device
    lost.append(
      ConflictCopy(
        mark: ConflictMark(record: name.record, device: author, time: name.item.time),
        title: entry.title, items: [name.item]))
  }

  private mutating func set(_ items: [Item], in record: RecordID) throws(VaultError) {
    guard let entry = entry(record) else { return }
    let base = try self.revision(entry.revision, of: record).revision
    var revision = base
    for item in items {
      try pages(member.loadPage) { load in try revision.set(item, load: load) }
      if self.items[record]?[item.name] != nil { self.items[record]?[item.name] = item }
    }
    revision.version[context.device.id] = counter
    revision.previous = [entry.revision]
    let latest = items.map(\.time).max() ?? .zero
    (revision.time, revision.device) = (max(time(over: base), latest), context.device.id)
    beginAnew(&revision, over: base)
    try write(&revision, base: base, entry: entry)
    joined.insert(record)
  }

  private mutating func keepLost(unless shows: (Item) -> Bool) throws(VaultError) {
    let copies = lost
    lost = []
    for copy in copies {
      var copy = copy
      copy.items.removeAll(where: shows)
      if copy.items.isEmpty { continue }
      let isKept = try unlessUnreadable { (writer) throws(VaultError) in try writer.keep(copy) }
      if isKept { continue }
      // The record that it would go to is damaged, or others have made one beforehand. Nobody knows where it goes now.
      copy.version += randomBytes(16)
      try unlessUnreadable { (writer) throws(VaultError) in try writer.keep(copy) }
    }
  }

  /// Does something to a record of which others may have made one that cannot be read, or that nothing can be added to: then it is
  /// left undone, since everything else is to be saved.
  ///
  /// - Returns: Whether it was done.
  @discardableResult
  mutating func unlessUnreadable(
    _ body: (inout CommitWriter) throws(VaultError) -> Void
  ) throws(VaultError) -> Bool {
    let before = (written, items)
    do {
      try body(&self)
      return true
    } catch {
      switch error {
      case .damaged, .missing, .limit: (written, items) = before
      default: throw error
      }
      return false
    }
  }

  /// Other names of the files that an edit gives, leaves or takes a name, as far as its author did not know them: those
  /// that the items there speak of, and for an edit that does not have all names those that its own items speak of. Also
  /// which files it removes.
  mutating func noteOtherNames(
    of edit: RecordEdit, base: RecordRevision?, _ names: Names
  ) throws(VaultError) {
    for (name, item) in edit.items {
      let old = try itemBefore(edit, name, in: base)
      if let old, !names.unseen.isEmpty { noteSeen(old, by: edit) }
      if item == nil, let old, !old.isDeleted, names.records[old.file] == nil {
        removed[edit.record, default: []].insert(name)
      }
      if let old, let known = names.links[old.file] {
        let unknown = Set(old.linkRecords).subtracting(known)
        if !unknown.isEmpty { note(old.file, in: unknown, old, of: edit) }
      }
      guard let item, !edit.hasAllNames, !item.linkRecords.isEmpty else { continue }
      note(item.file, in: Set(item.linkRecords), old, of: edit)
    }
    if let base, names.unseen.contains(edit.record) {
      try noteNewNames(beside: edit, in: base, names)
    }
    if let base, base.place.isDeleted, edit.place?.isDeleted == false {
      try noteNamesThatComeBack(beside: edit, in: base)
    }
  }

  /// Names of files in a deleted record that an edit brings back: what was done with the files since, or with other names of them,
  /// has not come to these. What they show whoever deleted the record has seen, or it was kept then.
  private mutating func noteNamesThatComeBack(
    beside edit: RecordEdit, in base: RecordRevision
  ) throws(VaultError) {
    // Who can read all of it settles it.
    let items = try ifWhole(itemsAndTombstones(of: base)) ?? []
    for item in items where !item.isDeleted && !item.linkRecords.isEmpty {
      // What the edit has itself is noted already.
      if edit.items[item.name] == nil { note(item.file, in: Set(item.linkRecords), item, of: edit) }
    }
  }

  /// Names that others have given the files of the edits in this record, which their author knew for other names of them.
  private mutating func noteNewNames(
    beside edit: RecordEdit, in base: RecordRevision, _ names: Names
  ) throws(VaultError) {
    for item in try itemsAndTombstones(of: base)
    where !item.isDeleted && !item.linkRecords.isEmpty && edit.items[item.name] == nil {
      if names.records[item.file] != nil { note(item.file, in: [], nil, of: edit) }
    }
  }

  /// What the author of an edit has looked at is not lost where it is replaced under names that others gave meanwhile.
  private mutating func noteSeen(_ old: Item, by edit: RecordEdit) {
    guard !old.isDeleted, let seen = edit.seen[old.name], seen.isStill(old) else { return }
    metFiles[old.file, default: MetFile()].known.append(old)
  }

  /// - Parameter old: What stands under a name that the edit has.
  private mutating func note(
    _ file: FileID, in records: Set<RecordID>, _ old: Item?, of edit: RecordEdit
  ) {
    var met = MetFile()
    met.records = records.union([edit.record])
    // What the author has looked at, or replaces without a look.
    if let old, old.file == file, !old.isDeleted, edit.seen[old.name]?.isStill(old) ?? true {
      met.known.append(old)
    }
    metFiles[file, default: MetFile()].join(met)
  }

  /// What the authors of edits gave a name without changing it, they have not written.
  mutating func noteUnchanged(in edits: [RecordEdit]) {
    for edit in edits {
      for case let item? in edit.items.values where edit.unchangedFiles[item.name] != nil {
        metFiles[item.file]?.known.append(item)
      }
    }
  }

  private func itemBefore(
    _ edit: RecordEdit, _ name: FileName, in base: RecordRevision?
  ) throws(VaultError) -> Item? {
    do {
      return try pages(member.loadPage) { load in
        var base = base
        return try base?.item(named: name, load: load)
      }
    } catch {
      guard edit.leavesOutUnreadable, error.isDamage else { throw error }
      return nil
    }
  }

  /// Remembers what stands in a revision under the names that an edit has files for.
  mutating func noteItems(
    of edit: RecordEdit, in revision: inout RecordRevision
  ) throws(VaultError) {
    for case let item? in edit.items.values {
      items[edit.record, default: [:]][item.name] = try pages(member.loadPage) { load in
        try revision.item(named: item.name, load: load)
      }
    }
  }

  /// What a commit's edits say of files that have several names.
  struct Names {
    /// The records that have names of a file after the commit, as far as its edits know.
    var records: [FileID: Set<RecordID>] = [:]
    /// The records of which its edits say that they may have some.
    var links: [FileID: Set<RecordID>] = [:]
    /// When they were changed: later than all that stood under one of the names.
    var time = HybridTime.zero
    /// Records that others have changed since the authors of the edits looked.
    var unseen: Set<RecordID> = []
  }

  func names(in edits: [RecordEdit]) -> Names {
    var names = Names()
    for edit in edits {
      for case let item? in edit.items.values {
        names.records[item.file, default: []].insert(edit.record)
        names.links[item.file, default: [edit.record]].formUnion(item.linkRecords)
        guard !item.linkRecords.isEmpty, let entry = entry(edit.record) else { continue }
        names.time = max(names.time, entry.time.next(now: 0))
      }
    }
    return names
  }

  /// When an edit's revision is written: one time under all names of a file, and none before the file last changed.
  func time(
    of edit: RecordEdit, over base: RecordRevision?, _ names: Names
  ) -> HybridTime {
    let isLinked = edit.items.values.contains { !($0?.linkRecords.isEmpty ?? true) }
    let files = edit.unchangedFiles.values.max() ?? .zero
    return max(time(over: base), files, isLinked ? names.time : .zero)
  }
}
