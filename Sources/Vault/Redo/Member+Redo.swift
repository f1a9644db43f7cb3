import BlobStore
import Log
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

extension Member {
  /// Makes edits durable without a commit. They must be all that no commit has, and a commit with `foldsRedo` of them
  /// must follow; if this process dies before, the next one brings them in.
  ///
  /// - Returns: False if that cannot be, and nothing was done: commit instead.
  package func log(_ edits: [RecordEdit]) throws(VaultError) -> Bool {
    if let damage = damageReason { throw damage }
    try requireWritable()
    guard let record = try redoRecord(of: edits) else { return false }
    do {
      guard try redoLog.append(record) else { return false }
      context.log.succeeded(.redoLog, of: LogIdentity(id))
      return true
    } catch {
      // The commit that follows says so where it fails, too; else every sync waits for one.
      context.log.failed(.redoLog, error, of: LogIdentity(id))
      return false
    }
  }

  /// Logs what a commit has left out of what was logged, instead of all that was: as much is durable as before.
  func logAlone(_ edits: [RecordEdit]) throws(VaultError) {
    var logged: [RecordEdit] = []
    // What waits in files of its own was never logged.
    for edit in edits where try redoRecord(of: [edit]) != nil { logged.append(edit) }
    if try log(logged) { return }
    // There is no room for it, or the disk has refused a record.
    try redoLog.erase()
    _ = try log(logged)
  }

  /// Logs as many of these edits as can be, whether or not they may be committed now. They must be all that no commit has.
  ///
  /// What was synced before is not given up for what was not: nothing is logged where not all of it can be logged once more.
  ///
  /// - Returns: What of them is logged, and what is not: that waits in files of its own, or there is no room for it.
  func keep(
    _ edits: [RecordEdit]
  ) throws(VaultError) -> (kept: [RecordEdit], left: [RecordEdit]) {
    let synced = redoLog.records
    var (first, others, left): ([RecordEdit], [RecordEdit], [RecordEdit]) = ([], [], [])
    for edit in edits {
      let parts = try parted(edit)
      let isSynced = synced.contains(edit.record)
      if isSynced { first.append(parts.whole) } else { others.append(parts.whole) }
      if parts.rest.items.isEmpty { continue }
      // Of these an older content may have been.
      if isSynced { return ([], edits) }
      left.append(parts.rest)
    }
    if !first.isEmpty {
      guard let record = try redoRecord(of: first), try redoLog.append(record) else {
        return ([], edits)
      }
    }
    var kept = first
    left += try keep(others[...], beside: &kept)
    return (kept, left)
  }

  /// Logs these besides others, in halves where they are too many for one record.
  private func keep(
    _ edits: ArraySlice<RecordEdit>, beside kept: inout [RecordEdit]
  ) throws(VaultError) -> [RecordEdit] {
    if edits.isEmpty { return [] }
    if let record = try redoRecord(of: kept + edits), try redoLog.append(record) {
      kept += edits
      return []
    }
    if edits.count == 1 { return Array(edits) }
    let middle = edits.startIndex + edits.count / 2
    let first = try keep(edits[..<middle], beside: &kept)
    return first + (try keep(edits[middle...], beside: &kept))
  }

  /// An edit without the items that cannot stand in a redo file, and one of those.
  private func parted(
    _ edit: RecordEdit
  ) throws(VaultError) -> (whole: RecordEdit, rest: RecordEdit) {
    var (whole, rest) = (edit, RecordEdit(record: edit.record))
    for (name, item) in edit.items {
      guard let item else { continue }
      var objects: [ContentDigest: RedoRecord.Object] = [:]
      if try addHeldObjects(of: item.content, to: &objects) { continue }
      rest.items[name] = item
      whole.items.removeValue(forKey: name)
      whole.seen[name] = nil
      whole.unchangedFiles[name] = nil
    }
    return (whole, rest)
  }

  /// - Returns: Nil if something of the edits cannot stand in a redo file.
  private func redoRecord(of edits: [RecordEdit]) throws(VaultError) -> RedoRecord? {
    var objects: [ContentDigest: RedoRecord.Object] = [:]
    for edit in edits {
      for case let item? in edit.items.values {
        guard try addHeldObjects(of: item.content, to: &objects) else { return nil }
      }
    }
    return RedoRecord(
      edits: edits.map(RedoEdit.init), objects: Array(objects.values),
      folder: context.folderNumber, path: context.folderPath)
  }

  /// Adds those objects of a content that no record has yet.
  ///
  /// - Returns: False if there are such in files that no commit has waited for, or too many.
  private func addHeldObjects(
    of content: Item.Content, to objects: inout [ContentDigest: RedoRecord.Object]
  ) throws(VaultError) -> Bool {
    switch content {
    case .none, .inline, .symlink: return true
    case .indexes(let indexes): return !indexes.contains(where: self.objects.isStaged)
    case .chunks(let chunks):
      for case let digest? in chunks where objects[digest] == nil {
        switch self.objects.whereabouts(of: digest) {
        case .inPlace: continue
        case .inStagingFolder: return false
        case .held(let file):
          if redoLog.holds(digest) { continue }
          guard objects.count < Self.redoObjectLimit else { return false }
          objects[digest] = RedoRecord.Object(digest: digest, kind: .chunk, file: file)
        }
      }
      return true
    }
  }

  /// With more than so many a commit is no slower.
  private static let redoObjectLimit = 64

  /// Whether something was logged that no commit has.
  package var hasLogged: Bool { !redoLog.isEmpty }

  /// What became of what another process had logged.
  enum Redone {
    /// It stands in the vault, or nothing is left of it to do.
    case done
    /// The file belongs to a copy of this vault's folder, or to its original, which stood at this path, and stays.
    case elsewhere([RecordEdit], path: [UInt8])
    /// A newer head of this device had it, and an older copy of the folder stands in the place of that one's now. The file stays
    /// until that head has come, or this device has written another one without it.
    case committed([RecordEdit])
    /// Its person may not write the member any more, so that nobody would take these from them. They stay, until they may.
    case refused([RecordEdit])
    /// Something in the file is sealed with a key that this person does not have now. It stays, until they have.
    case sealed
    /// A later version has written something in the file that this one does not know. It stays, until that one brings it in.
    case ofLaterVersion
  }

  /// Makes part of the vault what another process had logged when it died; does nothing if its own commit, or somebody
  /// else, has done so.
  ///
  /// - Parameter done: Is given what was done.
  /// - Throws: What a commit throws: then nothing was done. Or why something cannot be brought in, such as what it builds on
  ///   is damaged: then that is alone in the file.
  func redo(
    _ file: [UInt8], of writer: RedoWriterID, done: ([RecordEdit], Commit) -> Void = { _, _ in }
  ) throws(VaultError) -> Redone {
    let path = RedoFolder.path(of: writer).appending(id.hex)
    let entries = RedoFile.decode(file, path: path.string) { register.keys[$0] }
    let unread = RedoFile.unread(in: file, after: entries.last, path: path.string) {
      register.keys[$0]
    }
    switch unread {
    case .sealed: return .sealed
    case .ofLaterVersion: return .ofLaterVersion
    case nil: break
    }
    guard let last = entries.last else { return .done }
    let edits = last.record.edits.map { RecordEdit($0) }
    if let left = try whyLeft(edits, of: last, by: writer) { return left }
    let objects = entries.flatMap(\.record.objects)
    // A mount does so beside its commits, and what waits for a remote waits for the next time.
    let commit = try withWriter(attempts: Attempts(waits: false)) {
      (commit, _) throws(VaultError) -> Commit? in
      guard try commit.redone(of: writer) < last.sequence else { return nil }
      let uses = try stage(objects)
      defer { withExtendedLifetime(uses) {} }
      try commit.joinConcurrent()
      try commit.add(edits)
      if let failure = commit.firstFailure {
        // There has to be room for what is left.
        guard last.end < RedoFile.byteCount / 2 else { throw failure }
      } else {
        commit.folds = Head.Redone(writer: writer, sequence: last.sequence)
      }
      return try commit.finish()
    }
    guard let commit else { return .done }
    note(changes: Set(commit.entries.map(\.record)))
    done(edits, commit)
    guard let failure = commit.firstFailure else { return .done }
    if !commit.entries.isEmpty {
      try append(edits.compactMap(commit.leftOut), after: last, to: path)
    }
    throw failure
  }

  /// What becomes of the edits in a redo file that are not to be made part of the vault now; nil for those that are.
  private func whyLeft(
    _ edits: [RecordEdit], of last: RedoFile.Entry, by writer: RedoWriterID
  ) throws(VaultError) -> Redone? {
    guard isOfThisFolder(last.record) else { return .elsewhere(edits, path: last.record.path) }
    guard mayWrite else {
      let done = try heads.withLock { (heads) throws(VaultError) in
        try redone(of: writer, in: heads, own: heads.loaded[context.device.id])
      }
      return done < last.sequence ? .refused(edits) : .done
    }
    return try wasCommittedInNewer(last, of: writer) ? .committed(edits) : nil
  }

  /// Up to which of a process's records heads have the edits.
  ///
  /// - Parameter own: The head of this device that counts.
  fileprivate func redone(
    of writer: RedoWriterID, in heads: HeadsState, own: LoadedHead?
  ) throws(VaultError) -> UInt64 {
    try lastRedone(in: heads, own: own).first { $0.writer == writer }?.sequence ?? 0
  }

  /// What the newest heads that this machine has written say of redo files, as this device and as the one that it was: the files stay
  /// where they are when the machine becomes another device, and a mount that was there goes on as the one before.
  ///
  /// Heads of other machines say nothing of its files, whatever they name: where a running machine was copied, a process goes on
  /// on both with the same numbers.
  fileprivate func lastRedone(
    in heads: HeadsState, own: LoadedHead?
  ) throws(VaultError) -> [Head.Redone] {
    var marks = own?.head.redone ?? []
    let former = try lastOfMachine(heads, besides: own?.device)
    marks.join(former?.head.redone ?? [])
    return marks
  }

  /// What these edits would change, as a person calls it, in order.
  func names(of edits: [RecordEdit]) -> [String] {
    func name(_ text: String, isGone: Bool) -> String { isGone ? "\(text) (deleted)" : text }
    return edits.flatMap { edit -> [String] in
      let title = (edit.place?.title ?? entry(edit.record)?.title ?? self.name).string
      if edit.items.isEmpty { return [name(title, isGone: edit.place?.isDeleted ?? false)] }
      return edit.items.map { name("\(title)/\($0.key.string)", isGone: $0.value == nil) }
    }.sorted()
  }

  /// Whether the record was written beside this copy of the folder, as far as the disk can tell one from another; or beside one
  /// in whose place this one stands now.
  private func isOfThisFolder(_ record: RedoRecord) -> Bool {
    if hasNumberOfThisFolder(record) { return true }
    return !record.path.isEmpty && record.path == context.folderPath
  }

  private func hasNumberOfThisFolder(_ record: RedoRecord) -> Bool {
    let (one, other) = (record.folder, context.folderNumber)
    return one == 0 || other == 0 || one == other
  }

  /// Whether this is an older copy of the folder, put in the place of the one beside which the record was written and committed.
  /// Others may have changed what came of it since, and done again it would count as later than that.
  private func wasCommittedInNewer(
    _ last: RedoFile.Entry, of writer: RedoWriterID
  ) throws(VaultError) -> Bool {
    if hasNumberOfThisFolder(last.record) { return false }
    return try heads.withLock { (heads) throws(VaultError) -> Bool in
      let done = try redone(of: writer, in: heads, own: heads.loaded[context.device.id])
      let inNewer = heads.redoneInNewer.first { $0.writer == writer }?.sequence ?? 0
      return done < last.sequence && last.sequence <= inNewer
    }
  }

  /// Appends to another process's redo file what is left of its last record: done again, the rest would count as later than
  /// what comes meanwhile.
  private func append(
    _ edits: [RecordEdit], after last: RedoFile.Entry, to path: BlobPath
  ) throws(VaultError) {
    let record = RedoRecord(
      edits: edits.map(RedoEdit.init), objects: [], folder: last.record.folder,
      path: last.record.path)
    let bytes = RedoFile.encode(
      record, sequence: last.sequence + 1, with: register.keys.current, path: path.string)
    try storing(context.state.store.overwrite(path, at: UInt64(last.end), bytes))
  }

  /// Stages the content of logged objects under the current keys.
  private func stage(_ objects: [RedoRecord.Object]) throws(VaultError) -> [ObjectUse] {
    var uses: [ObjectUse] = []
    for object in objects {
      let content = try self.objects.content(of: object.file, object.digest, object.kind)
      uses.append(try self.objects.stage(object.kind, content))
    }
    return uses
  }
}

extension [Head.Redone] {
  /// Of what both say of a process the higher number stays.
  fileprivate mutating func join(_ others: [Head.Redone]) {
    for mark in others {
      if let known = firstIndex(where: { $0.writer == mark.writer }) {
        self[known].sequence = Swift.max(self[known].sequence, mark.sequence)
      } else {
        append(mark)
      }
    }
  }
}

extension CommitWriter {
  /// Up to which of a process's records its edits are in the manifest.
  func redone(of writer: RedoWriterID) throws(VaultError) -> UInt64 {
    try member.redone(of: writer, in: heads, own: heads.loaded[context.device.id] ?? former?.head)
  }

  /// What the next head says of redo files: of those that are there.
  func redone() throws(VaultError) -> [Head.Redone] {
    var marks = try member.lastRedone(
      in: heads, own: heads.loaded[context.device.id] ?? former?.head)
    if let folds {
      marks.removeAll { $0.writer == folds.writer }
      marks.append(folds)
    }
    var kept: [Head.Redone] = []
    for mark in marks where try context.state.hasRedoFolder(of: mark.writer) { kept.append(mark) }
    return kept
  }
}
