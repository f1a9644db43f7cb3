import VaultModel

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
    for (record, items) in changes.sorted(by: { $0.key < $1.key }) { try set(items, in: record) }
    try keepLost { item in
      names[item.file]?.contains { name in
        let new = changes[name.record]?.first { $0.name == name.item.name }
        return (new ?? name.item).hasContent(of: item)
      } ?? false
    }
  }

  /// The live items of these files, found by what each of them says of the others.
  private func names(of met: [FileID: MetFile]) throws(VaultError) -> [FileID: [Name]] {
    var names: [FileID: [Name]] = [:]
    var waiting = Array(met.values.reduce(into: Set<RecordID>()) { $0.formUnion($1.records) })
    var seen = Set(waiting)
    while let record = waiting.popLast() {
      guard let entry = entry(record), !entry.isDeleted else { continue }
      let items: [Item]
      do throws(VaultError) {
        items = try member.items(of: member.revision(entry.revision))
      } catch {
        switch error {
        // What cannot be read cannot be changed either; who can read it settles it.
        case .damaged, .missing, .limit: continue
        default: throw error
        }
      }
      for item in items where met[item.file] != nil {
        names[item.file, default: []].append(Name(record: record, item: item))
        waiting += item.linkRecords.filter { seen.insert($0).inserted }
      }
    }
    return names.mapValues { $0.sorted { ($0.record, $0.item.name) < ($1.record, $1.item.name) } }
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
    let revision = RevisionJoin.Named(
      name: entry.revision, revision: try member.revision(entry.revision))
    let author = try RevisionJoin(member: member).author(of: .item(name.item), in: revision)
    lost.append(
      ConflictCopy(
        mark: ConflictMark(record: name.record, device: author, time: name.item.time),
        title: entry.title, items: [name.item]))
  }

  private mutating func set(_ items: [Item], in record: RecordID) throws(VaultError) {
    guard let entry = entry(record) else { return }
    let base = try member.revision(entry.revision)
    var revision = base
    for item in items {
      try pages(member.loadPage) { load in try revision.set(item, load: load) }
    }
    revision.version[context.device.id] = counter
    revision.previous = [entry.revision]
    let latest = items.map(\.time).max() ?? .zero
    (revision.time, revision.device) = (max(time(over: base), latest), context.device.id)
    try write(&revision, base: base, entry: entry)
    joined.insert(record)
  }

  private mutating func keepLost(unless shows: (Item) -> Bool) throws(VaultError) {
    let copies = lost
    lost = []
    for copy in copies {
      var copy = copy
      copy.items.removeAll(where: shows)
      if !copy.items.isEmpty { try keep(copy) }
    }
  }

  /// Other names of the files that an edit changes, whose author knows only the names in it.
  mutating func noteOtherNames(
    of edit: RecordEdit, base: RecordRevision?
  ) throws(VaultError) {
    for case let item? in edit.items.values where !item.linkRecords.isEmpty {
      let old = try pages(member.loadPage) { load in
        var base = base
        return try base?.item(named: item.name, load: load)
      }
      var met = MetFile()
      met.records = Set(item.linkRecords).union([edit.record])
      if let old { met.known.append(old) }
      if edit.unchangedFiles[item.name] != nil { met.known.append(item) }
      metFiles[item.file, default: MetFile()].join(met)
    }
  }

  /// What a commit's edits say of files that have several names.
  struct Names {
    /// The records that have names of a file after the commit, as far as its edits know.
    var records: [FileID: Set<RecordID>] = [:]
    /// When they were changed: later than all that stood under one of the names.
    var time = HybridTime.zero
  }

  func names(in edits: [RecordEdit]) -> Names {
    var names = Names()
    for edit in edits {
      for case let item? in edit.items.values {
        names.records[item.file, default: []].insert(edit.record)
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
