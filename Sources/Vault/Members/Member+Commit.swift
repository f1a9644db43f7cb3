import BlobStore
import VaultCrypto
import VaultModel

extension Member {
  /// Makes the edits part of the vault: one revision object a record, one segment, one head.
  ///
  /// Everything that the edits name is on disk, and the commit survives a power cut, when this returns.
  /// Other processes of this device wait for one another here; edits are applied to the newest
  /// revisions. An edit that changes nothing writes nothing. Edits of records whose current revision
  /// cannot be read are reported in `failures`, items whose content is not to be had in `heldBack`; everything else is
  /// committed.
  ///
  /// - Throws: `viewersOnlyRead`, `epochSpent`, `readOnly`, `noSpace`, `rolledBack`, `forked`, `io`; `damaged` or `missing` when the
  ///   member's head or manifest is not whole. Then nothing was committed and what was is still there.
  ///
  /// - Parameter foldsRedo: The edits are all that `log` was called with since the last such commit, or newer ones of the
  ///   same: what was logged counts no more.
  package func commit(
    _ edits: [RecordEdit], foldsRedo: Bool = false
  ) throws(VaultError) -> Commit {
    try commit(edits, foldsRedo: foldsRedo, succeedsSpentEpoch: true)
  }

  private func commit(
    _ edits: [RecordEdit], foldsRedo: Bool, succeedsSpentEpoch: Bool
  ) throws(VaultError) -> Commit {
    if let damage = damageReason { throw damage }
    let mark = foldsRedo ? redoLog.mark : nil
    let (commit, wroteHead) = try withWriter(succeedsSpentEpoch: succeedsSpentEpoch) {
      (writer, changed) throws(VaultError) in
      writer.folds = mark
      try writer.joinConcurrent()
      try writer.add(edits, unseen: changed.union(changesToTake))
      let commit = try writer.finish()
      return (commit, writer.wroteHead)
    }
    if foldsRedo, wroteHead { redoLog.rewind() }
    if foldsRedo, !wroteHead { try redoLog.erase() }
    return commit
  }

  /// Runs `body` with a commit in the making that knows all that is here, late heads taken over; nothing of what is
  /// known changes when it throws.
  ///
  /// - Parameters:
  ///   - catchesUp: False only after a repair, when the head on disk may not be readable.
  ///   - succeedsSpentEpoch: Whether a device of an owner begins an epoch first in the place of one that is spent.
  /// - Throws: `epochSpent` where that is not done.
  func withWriter<Value: Sendable>(
    catchesUp: Bool = true, succeedsSpentEpoch: Bool = true,
    _ body: (inout CommitWriter, _ changed: Set<RecordID>) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    do throws(VaultError) { return try withWriterOnce(catchesUp: catchesUp, body) } catch {
      guard case .epochSpent = error, succeedsSpentEpoch, try mayBeginEpoch else { throw error }
    }
    try succeedSpentEpoch()
    return try withWriterOnce(catchesUp: catchesUp, body)
  }

  private func withWriterOnce<Value: Sendable>(
    catchesUp: Bool,
    _ body: (inout CommitWriter, _ changed: Set<RecordID>) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    try requireWritable()
    return try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        let changed = catchesUp ? try catchUpOrPart(&heads) : []
        // An epoch that has just come may have changed that.
        try requireWritable()
        try requireUnspentEpoch()
        try objects.noteAnnounced(heads.announcements(besides: context.device.id))
        try writeHidden(&heads)
        var writer = CommitWriter(member: self, heads: heads)
        // What is known by now stays known, also where the head that says so cannot be written.
        defer { heads.learned.formUnion(writer.unwritten) }
        let value: Value
        do throws(VaultError) {
          try writer.takeOver()
          value = try body(&writer, changed)
        } catch {
          objects.restage()
          throw error
        }
        objects.settle()
        heads = writer.heads
        noteLateHeads(heads)
        return value
      }
    }
  }

  /// Joins what devices wrote without knowing of each other, if there is any such: a commit without edits.
  ///
  /// What loses is kept in the member's `Offline Sync Conflicts`. Of a member that this person may only read nothing is
  /// written: one of the versions shows until an editor's device has joined them.
  package func joinConcurrent() throws(VaultError) -> Commit {
    guard mayWrite else {
      // Others' changes are in `changes` now, for whoever shows them.
      _ = try refresh()
      return Commit(counter: 0)
    }
    do throws(VaultError) {
      return try commit([], foldsRedo: false, succeedsSpentEpoch: false)
    } catch {
      // Until an owner has begun an epoch one of the versions shows.
      guard case .epochSpent = error else { throw error }
      return Commit(counter: 0)
    }
  }

  func requireWritable() throws(VaultError) {
    guard !context.isReadOnly else { throw .readOnly }
    if let removal = context.removal { throw removal }
    guard mayWrite else { throw .viewersOnlyRead(member: id) }
  }

  /// Writes a head without a change of its own, so that whoever looks for new heads alone finds the links beside it.
  /// What was learned from other devices stands in it.
  func commitNothing() throws(VaultError) {
    try withWriter { (writer, _) throws(VaultError) in try writer.writeLearned() }
  }

  /// Writes a head with a new checkpoint of everything known, whatever is in the old one.
  ///
  /// - Parameter catchesUp: False only after a repair, when the head on disk may not be readable.
  func commitCheckpoint(
    dropping dropped: Set<RecordID> = [], catchesUp: Bool = true
  ) throws(VaultError) {
    try withWriter(catchesUp: catchesUp) { (writer, _) throws(VaultError) in
      state.withLock { $0.manifest.remove(dropped) }
      try writer.writeHead(.checkpoint)
    }
  }
}

/// One commit in the making. Lives while the commit lock is held.
struct CommitWriter {
  let member: Member
  var heads: HeadsState
  let counter: UInt64
  /// Of the head, and of records that hold nothing later.
  let time: HybridTime
  /// What this commit has made of each record so far.
  var written: [RecordID: RecordEntry] = [:]
  /// What stands under the names that its edits gave a file.
  var items: [RecordID: [FileName: Item]] = [:]
  /// Records that were joined, and the copies of what lost.
  var joined: Set<RecordID> = []
  /// What lost in joins and edits so far, to be kept unless another name of its file has it.
  var lost: [ConflictCopy] = []
  /// Files of several names of which joins and edits have met several states, to be settled.
  var metFiles: [FileID: MetFile] = [:]
  private var failures: [RecordID: VaultError] = [:]
  private var heldBack: [RecordID: [FileName: VaultError]] = [:]
  /// Records that were taken over from late heads and that no head of this device has yet.
  var unwritten: Set<RecordID> = []
  /// The redo records that the edits of this commit stand in.
  var folds: Head.Redone?
  private(set) var wroteHead = false
  /// The head that this one goes on from, of the device that this machine was, and since when.
  var former: (head: LoadedHead, above: UInt64)?
  /// Something of a late head of another device is not here, so it is not taken over yet.
  var isWaiting = false
  var context: VaultContext { member.context }
  private var objects: ObjectStore { member.objects }

  init(member: Member, heads: HeadsState) {
    self.member = member
    self.heads = heads
    let current = heads.last(of: member.context.device.id)?.counter ?? 0
    counter = max(current, heads.counterFloor) + 1
    self.heads.forgetTimeAhead(of: member.context.clock)
    time = self.heads.lastTime.next(now: member.context.clock.milliseconds())
  }

  // MARK: Records

  /// The time of a revision over another one: later than all in that, even where a clock was ahead when it was written,
  /// whose time goes no further than to the records that it was written to.
  func time(over base: RecordRevision?) -> HybridTime {
    base.map { max(time, $0.time.next(now: 0)) } ?? time
  }

  /// - Parameter unseen: Records that others have changed since the authors of the edits looked.
  mutating func add(
    _ edits: [RecordEdit], unseen: Set<RecordID> = []
  ) throws(VaultError) {
    var names = names(in: edits)
    names.unseen = unseen
    for edit in edits {
      let position = objects.publishedCount
      do throws(VaultError) {
        try add(edit, names: names)
      } catch {
        switch error {
        case .damaged, .missing, .notFound, .limit: failures[edit.record] = error
        default: throw error
        }
        objects.restage(from: position)
      }
    }
    noteUnchanged(in: edits)
    try settleFiles()
  }

  /// A record as this commit leaves it.
  func entry(_ record: RecordID) -> RecordEntry? { written[record] ?? member.entry(record) }

  mutating func add(_ edit: RecordEdit, names: Names = Names()) throws(VaultError) {
    let entry = entry(edit.record)
    var base: (digest: ContentDigest, revision: RecordRevision)?
    if let entry { base = (entry.revision, try member.revision(entry.revision)) }
    let named = base.map { RevisionJoin.Named(digest: $0.digest, revision: $0.revision) }
    let edit = try published(edit)
    if let named { try keepUnseen(by: edit, in: named, names) }
    try noteOtherNames(of: edit, base: base?.revision, names)
    let applied = try edit.applied(
      to: base, time: time(of: edit, over: base?.revision, names),
      device: context.device.id, counter: counter,
      keepsTombstones: context.keepsTombstones, names: names.records, load: member.loadPage)
    if var revision = applied ?? base?.revision { try noteItems(of: edit, in: &revision) }
    guard var revision = applied else { return }
    try write(&revision, base: base?.revision, entry: entry)
  }

  /// Brings the contents of an edit to their places, under the current keys. An item of which something is not to be had
  /// is held back, and the rest of the edit goes on without it: one lost file is not to be the loss of others.
  private mutating func published(_ edit: RecordEdit) throws(VaultError) -> RecordEdit {
    var result = edit
    // In the order in which most programs read them: the disk lays them out as they come.
    for (name, item) in edit.items.sorted(by: { $0.key < $1.key }) {
      guard let item else { continue }
      let position = objects.publishedCount
      do throws(VaultError) {
        try publish(item.content)
      } catch {
        switch error {
        case .damaged, .missing, .away: heldBack[edit.record, default: [:]][name] = error
        default: throw error
        }
        objects.restage(from: position)
        result.items.removeValue(forKey: name)
      }
    }
    return result
  }

  /// Stores a revision, which becomes the record's newest.
  ///
  /// - Parameters:
  ///   - base: An older revision, and what the manifest says of it: they spare reading a note that did not change.
  @discardableResult
  mutating func write(
    _ revision: inout RecordRevision, base: RecordRevision?, entry: RecordEntry?
  ) throws(VaultError) -> ContentDigest {
    let name = try store(&revision)
    let summary = try summary(of: revision, base: base, entry: entry)
    written[revision.record] = RecordEntry(revision, named: name, summary: summary)
    return name
  }

  /// Moves the objects of a content to their places, chunks before the index that names them.
  private func publish(_ content: Item.Content) throws(VaultError) {
    switch content {
    case .inline, .symlink, .none: return
    case .chunks(let names):
      for name in names { if let name { try objects.publish(name) } }
    case .indexes(let indexes):
      for index in indexes {
        // An index that is in its place was put there after its chunks.
        if objects.isStaged(index) {
          try publish(.chunks(try member.chunks(of: .indexes([index]))))
        }
        try objects.publish(index)
      }
    }
  }

  /// Writes the revision and the new pages of its item tree, signed by this device unless it is a join.
  func store(_ revision: inout RecordRevision) throws(VaultError) -> ContentDigest {
    let isJoin = revision.previous.count > 1
    let signer = try isJoin ? nil : context.ownCertificate().id
    let bytes: [UInt8]
    do {
      let store = { (page: [UInt8]) in try putAndPublish(.page, page) }
      if let signer {
        bytes = try revision.encodeSigned(by: signer, sign: sign, storingPages: store)
      } else {
        revision.signature = nil
        bytes = try revision.encode(storingPages: store)
      }
    } catch let error as VaultError {
      throw error
    } catch {
      preconditionFailure("encoding a record threw \(error)")
    }
    guard bytes.count <= ObjectLayout.maximumContentSize(of: .record) else {
      throw .limit(
        what: "the size of a record", found: bytes.count,
        limit: ObjectLayout.maximumContentSize(of: .record))
    }
    let name = try putAndPublish(.record, bytes)
    member.revisions.withLock { cache in
      // Nobody writes on top of those any more.
      for previous in revision.previous { cache.remove(previous) }
      cache.insert(revision, named: name)
    }
    return name
  }

  /// This device's signature of a revision of the member.
  private func sign(_ unsigned: [UInt8]) -> [UInt8] {
    context.device.signingKey.sign(
      context.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
  }

  @discardableResult
  private func putAndPublish(
    _ kind: ObjectKind, _ bytes: [UInt8]
  ) throws(VaultError) -> ContentDigest {
    let use = try objects.stage(kind, bytes)
    try objects.publish(use.digest)
    return use.digest
  }

  /// What the manifest says of the record's note; read again only when the note changed.
  private func summary(
    of revision: RecordRevision, base: RecordRevision?, entry: RecordEntry?
  ) throws(VaultError) -> FrontMatterSummary {
    guard let document = revision.document, !document.isDeleted else { return FrontMatterSummary() }
    if let entry, base?.document?.content == document.content {
      return FrontMatterSummary(
        type: entry.type, date: entry.date, isUnreadable: entry.hasUnreadableFrontMatter)
    }
    let text = try member.beginning(of: document, byteCount: RecordDocument.frontMatterLimit)
    return FrontMatter.summary(of: text)
  }

  // MARK: Manifest and head

  /// - Parameter writesLearned: Whether what was learned from other devices alone is worth a head.
  mutating func finish(writesLearned: Bool = false) throws(VaultError) -> Commit {
    let current = heads.last(of: context.device.id)?.counter ?? 0
    guard
      !written.isEmpty || hasLateHeads || hasLinesToTell || writesLearned && !heads.learned.isEmpty
    else {
      return Commit(counter: current, items: items, failures: failures, heldBack: heldBack)
    }
    let entries = Array(written.values)
    // The head must be complete by itself, so it also takes what was learned from other devices.
    let records = Set(written.keys).union(heads.learned)
    // Before the manifest in memory changes, so that a failure leaves it as it was.
    try writeHead(with: records)
    member.state.withLock { state in
      state.take(entries)
      // Also what has the entry that it had: its versions are others.
      state.touched?.formUnion(written.keys)
      state.note(joined.union(state.findDisplaced(afterWriting: entries)))
    }
    return Commit(
      counter: counter, entries: entries, items: items, failures: failures, heldBack: heldBack)
  }

  /// Writes a head with what was learned from other devices, and nothing else that is new.
  mutating func writeLearned(
    _ change: (inout Head) -> Void = { _ in }
  ) throws(VaultError) {
    try writeHead(with: heads.learned, change)
  }

  private mutating func writeHead(
    with records: Set<RecordID>, _ change: (inout Head) -> Void = { _ in }
  ) throws(VaultError) {
    var changes = pendingEntries(records)
    if let shared = try sharedSegments(insteadOf: changes) {
      (heads.ownSegments, changes) = shared
    }
    try writeHead(heads.ownSegments.action(for: changes), changes: changes, change)
  }

  /// Every record that the member has when this commit is written.
  var everyRecord: Set<RecordID> {
    member.state.withLock { Set($0.manifest.entries.map(\.record)) }.union(written.keys)
  }

  /// The entries of these records as this commit leaves them: several of a record that is still to be joined.
  func pendingEntries(_ records: Set<RecordID>) -> [RecordEntry] {
    let known = member.state.withLock { state in
      records.flatMap { record in
        // What waits to be taken over is in the head that brought it.
        written[record].map { [$0] }
          ?? state.manifest.rivals(of: record).filter { !state.manifest.isLate($0) }
      }
    }
    return known.sorted { ($0.record, $0.revision) < ($1.record, $1.revision) }
  }

  /// Writes segments as `action` says, then the head; durable when it returns.
  ///
  /// - Parameter change: What else is new in the head.
  mutating func writeHead(
    _ action: DeltaPlan.Action, changes: [RecordEntry] = [],
    _ change: (inout Head) -> Void = { _ in }
  ) throws(VaultError) {
    let last = heads.last(of: context.device.id).map { [$0.mark] } ?? []
    var segments = heads.ownSegments
    switch heads.isToBeRewritten ? .checkpoint : action {
    case .append:
      segments.deltas += try storeSegments(changes, segments.missingMarks + last)
    case .merge(let start):
      let merged = segments.deltas[start...]
      let records = merged.reduce(Set(changes.map(\.record))) { $0.union($1.records) }
      let marks = merged.flatMap(\.marks) + segments.missingMarks
      segments.deltas.removeSubrange(start...)
      segments.deltas += try storeSegments(pendingEntries(records), marks + last)
    case .checkpoint:
      let all = everyRecord.union(changes.map(\.record))
      let checkpoint = try storeSegments(
        pendingEntries(all), heads.lines[context.device.id].marks + last)
      segments = HeadSegments(
        checkpoint: checkpoint.map(\.name),
        checkpointByteCount: checkpoint.reduce(0) { $0 + $1.byteCount })
    }
    var head = ownHead
    head.checkpoint = segments.checkpoint
    head.deltas = segments.deltas.map(\.name)
    head.time = time
    head.cover = cover
    head.heard = heard
    head.reached = reached(besides: head.basis)
    head.authored = try authoredLists()
    head.strays = openStrays
    head.names = names
    head.journals = journals
    head.reads = reads
    if let former {
      head.branches.append(Head.Branch(device: former.head.device, above: former.above))
    }
    change(&head)
    try store(head)
    segments.missingMarks = []
    heads.ownSegments = segments
    heads.isToBeRewritten = false
    heads.learned = []
    heads.note(time, by: context.clock)
  }

  /// Writes a head that announces the removal of these objects; an empty list ends an announcement.
  mutating func announce(_ names: [ObjectName]) throws(VaultError) {
    if hasLateHeads { return try writeHead(.checkpoint) }
    let name =
      names.isEmpty
      ? nil : try putAndPublish(.announcement, Announcement(names: names).encoded())
    let number = names.isEmpty ? 0 : counter
    try writeLearned { head in
      head.announcement = name
      head.announcedAt = number
    }
  }

  /// - Parameter marks: The heads of this device that come before the one that names them.
  private mutating func storeSegments(
    _ entries: [RecordEntry], _ marks: [HeadMark]
  ) throws(VaultError) -> [DeltaPlan.Delta] {
    var deltas: [DeltaPlan.Delta] = []
    let (step, markStep) = (Limits.checkpointSegmentEntries, Limits.segmentMarks)
    let count = max(
      (entries.count + step - 1) / step, (marks.count + markStep - 1) / markStep)
    for number in 0..<count {
      let part = Array(entries.dropFirst(number * step).prefix(step))
      let listed = Array(marks.dropFirst(number * markStep).prefix(markStep))
      let lineage =
        listed.isEmpty ? nil : SegmentLineage(device: context.device.id, marks: listed)
      let bytes = Segment(entries: part, lineage: lineage).encoded()
      let name = try putAndPublish(.segment, bytes)
      heads.lines.note(lineage, of: name)
      deltas.append(
        DeltaPlan.Delta(
          name: name, byteCount: bytes.count, records: Set(part.map(\.record)), marks: listed))
    }
    return deltas
  }

  private mutating func store(_ head: Head) throws(VaultError) {
    let device = context.device.id
    let previous = heads.last(of: device)?.hash
    let replaced = heads.loaded[device]?.head.segments ?? []
    var head = head
    head.redone = try redone()
    let (body, bytes) = try member.register.encode(head, counter: counter, previous: previous)
    try member.register.store(bytes)
    wroteHead = true
    if let last = heads.last(of: device) {
      heads.lines.lineages[device, default: Lineage()].add(last.mark)
    }
    member.state.withLock {
      $0.replaced.replace(replaced, by: head.segments, counter: counter)
    }
    let hash = Digest.sha256(bytes)
    heads.loaded[device] = LoadedHead(
      device: device, counter: counter, hash: hash, late: nil, head: head, body: body)
    heads.takenOver[device] = nil
    for known in heads.loaded.values where known.late != nil && !isWaiting {
      heads.loaded[known.device] = nil
      heads.broughtLate[known.device] = nil
      heads.takenOver[known.device] = known
    }
    heads.seen[device] = nil
    unwritten = []
    let known = heads.loaded.values.map { ($0.device, $0.counter, $0.hash) }
    let register = member.register
    let (state, owner) = (heads, member)
    try context.state.updateWatermarks { marks in
      marks.forget { mark in
        guard case .head(owner.id, let device) = mark.path else { return false }
        let seen = HeadMark(mark)
        return owner.retelling(of: device, seen, state) != nil
      }
      for (device, counter, hash) in known {
        marks.raise(register.path(of: device), counter: counter, hash: hash)
      }
    }
    try context.state.keepHead(bytes, of: member.id)
  }
}
