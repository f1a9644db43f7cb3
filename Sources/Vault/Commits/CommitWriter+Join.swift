import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultPeople

extension CommitWriter {
  /// Joins every record of which there are versions that know nothing of each other.
  ///
  /// A record that cannot be joined yet, because an object of one version is not here or damaged, keeps all its
  /// versions until it can; so does one of which there are more than can be joined.
  mutating func joinConcurrent() throws(VaultError) {
    let conflicts = member.state.withLock {
      $0.manifest.hasConflicts ? $0.manifest.conflicts : [:]
    }
    for (record, rivals) in conflicts.sorted(by: { $0.key < $1.key }) {
      if rivals.areTooManyToJoin() || member.hasLate(among: rivals) { continue }
      let before = written
      do {
        try join(record, rivals)
      } catch {
        switch error {
        case .damaged, .missing, .limit: written = before
        default: throw error
        }
      }
    }
    try settleFiles()
  }

  /// Joins these versions of a record.
  ///
  /// - Throws: `limit` where no version could name all of them, before anything is written.
  mutating func join(
    _ record: RecordID, _ rivals: [RecordEntry]
  ) throws(VaultError) {
    if rivals.areTooManyToJoin() {
      throw .limit(
        what: "the number of versions of a record", found: rivals.count,
        limit: Limits.joinedVersions)
    }
    // The same order on every device.
    let digests = try uncrowded(rivals).map(\.revision).sorted()
    guard let first = digests.first else { return }
    let join = RevisionJoin(member: member)
    var sum = try self.revision(first, of: record)
    var copies: [ConflictCopy] = []
    var met: [FileID: MetFile] = [:]
    for digest in digests.dropFirst() {
      let other = try self.revision(digest, of: record)
      var outcome = try join.run(sum, other)
      copies += outcome.copies
      for (file, states) in outcome.metFiles { met[file, default: MetFile()].join(states) }
      let stored = try write(&outcome.merged, base: nil, entry: nil)
      sum = NamedRevision(outcome.merged, named: stored)
    }
    joined.insert(record)
    lost += copies
    for (file, states) in met { metFiles[file, default: MetFile()].join(states) }
  }

  /// The same, where together they would name very many devices: those that name most of them as of this device, with versions that
  /// leave room for one another.
  private mutating func uncrowded(
    _ rivals: [RecordEntry]
  ) throws(VaultError) -> [RecordEntry] {
    guard rivals.areCrowded else { return rivals }
    let share = max(1, Limits.versionDevicesKept / rivals.count)
    var result: [RecordEntry] = []
    for rival in rivals {
      if rival.version.entries.count > share {
        result.append(try begunAnew(rival, oneOf: rivals.count))
      } else {
        result.append(rival)
      }
    }
    return result
  }

  private mutating func begunAnew(
    _ entry: RecordEntry, oneOf count: Int
  ) throws(VaultError) -> RecordEntry {
    let own = context.device.id
    var revision = try self.revision(entry.revision, of: entry.record).revision
    revision.version[own] = counter
    revision.version = revision.version.begunAnew(over: entry.revision, by: own, oneOf: count) {
      heads.loaded[$0] != nil
    }
    revision.previous = [entry.revision]
    revision.device = own
    try write(&revision, base: nil, entry: nil)
    return written[entry.record] ?? entry
  }

  /// Puts a version that lost among the member's conflicts, unless it is or was there already.
  mutating func keep(_ copy: ConflictCopy) throws(VaultError) {
    let record = copy.record(in: member.id)
    let items = copy.detachedItems(in: member.id)
    if let entry = entry(record) {
      if entry.isDeleted { return try keepUnseen(copy, items, over: entry) }
      let kept = try self.revision(entry.revision, of: record).revision
      var missing: [Item] = []
      var others: [Item] = []
      for (item, lost) in zip(items, copy.items) {
        let known = try pages(member.loadPage) { load in
          var kept = kept
          return try kept.item(named: item.name, load: load)
        }
        guard let known else {
          missing.append(item)
          continue
        }
        if known.hasContent(of: item) { continue }
        if try RevisionJoin(member: member).isUnseen(item, by: entry.revision) {
          others.append(lost)
        }
      }
      if !missing.isEmpty { try add(missing, to: kept, previous: [entry.revision]) }
      if !others.isEmpty { try keep(copy.beside(others)) }
      return
    }
    // Where it is deleted and nothing can be made of that, the copy shows in the member itself.
    try unlessUnreadable { (writer) throws(VaultError) in try writer.keepFolder() }
    let time = copy.mark.time
    let modified = FileTimestamp(milliseconds: time.milliseconds)
    let revision = RecordRevision(
      record: record,
      place: RecordPlace(
        parent: ConflictCopy.folder(of: member.id), title: copy.mark.title(for: copy.title)),
      placeTime: time,
      attributes: RecordAttributes(mode: 0o700, modified: modified, xattrs: [copy.mark.xattr]),
      attributesTime: time, version: VersionVector(), time: time, device: copy.mark.device)
    try add(items, to: revision, previous: [])
  }

  /// Whoever threw a copy away has seen what it held: the rest of the version is kept beside.
  private mutating func keepUnseen(
    _ copy: ConflictCopy, _ items: [Item], over entry: RecordEntry
  ) throws(VaultError) {
    var unseen: [Item] = []
    for (item, lost) in zip(items, copy.items) {
      if try !RevisionJoin(member: member).hasHeld(item, entry.revision) { unseen.append(lost) }
    }
    if !unseen.isEmpty { try keep(copy.beside(unseen)) }
  }

  /// Adds items with the times they have, so that two devices that keep one copy write the same, and none of them
  /// wins over what a person does with the copy later.
  private mutating func add(
    _ items: [Item], to base: RecordRevision, previous: [ContentDigest]
  ) throws(VaultError) {
    var revision = base
    for item in items {
      try pages(member.loadPage) { load in try revision.set(item, load: load) }
    }
    revision.version[context.device.id] = counter
    revision.previous = previous
    beginAnew(&revision, over: base)
    try write(&revision, base: nil, entry: nil)
    joined.insert(revision.record)
  }

  /// Makes the record that holds the conflicts, or brings it back.
  private mutating func keepFolder() throws(VaultError) {
    let record = ConflictCopy.folder(of: member.id)
    let title = FileName(ConflictMark.folderTitle) ?? .record
    let place = RecordPlace(parent: .root, title: title)
    if let entry = entry(record) {
      guard entry.isDeleted else { return }
      try add(RecordEdit(record: record, place: place))
    } else {
      let modified = FileTimestamp(milliseconds: context.clock.milliseconds())
      try add(
        RecordEdit(
          record: record, isNew: true, place: place,
          attributes: RecordAttributes(mode: 0o700, modified: modified)))
    }
    joined.insert(record)
  }
}

extension CommitWriter {
  /// Keeps what another device made of an item since the author of the edit looked at it.
  mutating func keepUnseen(
    by edit: RecordEdit, in base: NamedRevision, _ names: Names
  ) throws(VaultError) {
    let join = RevisionJoin(member: member)
    for (name, seen) in edit.seen {
      let old = try pages(member.loadPage) { load in
        var revision = base.revision
        return try revision.item(named: name, load: load)
      }
      guard let old, !seen.isStill(old), !old.isDeleted || seen != .nothing else { continue }
      // What comes of the edit is not what its author shows.
      member.note(changes: [edit.record])
      var met = MetFile()
      met.add(old.knowing(names.records[old.file] ?? []), in: edit.record)
      if let known = try join.item(named: name, seenAs: seen, before: base) {
        met.known.append(known)
      }
      metFiles[old.file, default: MetFile()].join(met)
      if old.isDeleted { continue }
      if let new = edit.items[name] ?? nil {
        if new.content == old.content { continue }
        if new.file == old.file, edit.unchangedFiles[name] != nil { continue }
      }
      // An older version that is damaged keeps nothing from being saved.
      let origin = try ifWhole(join.origin(of: .item(old), in: base)) ?? base.revision
      // Of two programs on one machine the later one wins, as on any disk. What this machine only brought under another name
      // others have written.
      if heads.wasWritten(origin, by: context.device.id), origin.time == old.changed { continue }
      lost.append(
        ConflictCopy(
          mark: ConflictMark(record: edit.record, device: origin.device, time: old.time),
          title: base.revision.place.title, items: [old]))
    }
  }
}
