import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// How what is known becomes segments, and a head that names them. Docs/Format.md, "Manifests and heads".
extension CommitWriter {
  /// Writes a head with what was learned from other devices, and nothing else that is new.
  mutating func writeLearned(
    _ change: (inout Head) -> Void = { _ in }
  ) throws(VaultError) {
    try writeHead(with: heads.learned, change)
  }

  /// Writes a head that has these records as they are known now, beside what this device's head has already.
  mutating func writeHead(
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
      records.flatMap { record -> [RecordEntry] in
        // What waits to be taken over is in the head that brought it.
        let versions = state.manifest.rivals(of: record).filter { !state.manifest.isLate($0) }
        guard let new = written[record] else { return versions }
        // What could not be joined with it may stand in no other head.
        return [new] + versions.filter { new.compare(to: $0) == .concurrent }
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
    var segments = try storeSegments(heads.isToBeRewritten ? .checkpoint : action, changes)
    var head = try nextHead(naming: segments)
    change(&head)
    try store(head)
    segments.missingMarks = []
    heads.ownSegments = segments
    heads.isToBeRewritten = false
    heads.learned = []
    heads.hasLearnedOfFormer = false
    // What could not be taken over yet is in no head.
    heads.leftOut = isWaiting ? heads.leftOut.filter { $0.late != nil } : []
    heads.note(time, by: context.clock)
  }

  /// What the next head names: this device's segments as they are known, with what `action` makes of them.
  private mutating func storeSegments(
    _ action: DeltaPlan.Action, _ changes: [RecordEntry]
  ) throws(VaultError) -> HeadSegments {
    let last = heads.last(of: context.device.id).map { [$0.mark] } ?? []
    var segments = heads.ownSegments
    switch action {
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
    return segments
  }

  /// All that this device says of the member, but for what is said with the file itself.
  private func nextHead(naming segments: HeadSegments) throws(VaultError) -> Head {
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
    head.takenOver = takenOver
    if let former {
      head.branches.append(Head.Branch(device: former.head.device, above: former.above))
    }
    head.retold = heads.retold(by: member.witnesses, besides: head.branches)
    return head
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
      for (segment, bytes) in Self.segments(part, lineage) {
        let name = try putAndPublish(.segment, bytes)
        heads.lines.note(segment.lineage, of: name)
        deltas.append(
          DeltaPlan.Delta(
            name: name, byteCount: bytes.count, records: Set(segment.entries.map(\.record)),
            marks: segment.lineage?.marks ?? []))
      }
    }
    return deltas
  }

  /// One segment, or several where there is no room for all in one: of some entries others have made as much as they may.
  static func segments(
    _ entries: [RecordEntry], _ lineage: SegmentLineage?,
    atMost byteCount: Int = Limits.contentBytes(of: .segment)
  ) -> [(segment: Segment, bytes: [UInt8])] {
    let segment = Segment(entries: entries, lineage: lineage)
    let bytes = segment.encoded()
    if bytes.count <= byteCount || entries.isEmpty { return [(segment, bytes)] }
    if lineage != nil {
      return segments([], lineage, atMost: byteCount) + segments(entries, nil, atMost: byteCount)
    }
    if entries.count == 1 {
      // It came in a segment, but it may have been renamed since, or written shorter.
      var entry = entries[0]
      (entry.type, entry.unknown) = ("", .none)
      let segment = Segment(entries: [entry])
      return [(segment, segment.encoded())]
    }
    let middle = entries.count / 2
    return segments(Array(entries[..<middle]), nil, atMost: byteCount)
      + segments(Array(entries[middle...]), nil, atMost: byteCount)
  }

  /// Signs the head and puts it in its place; then it is known here as this device's newest.
  private mutating func store(_ head: Head) throws(VaultError) {
    var head = head
    head.redone = try redone()
    let (body, bytes) = try member.register.encode(
      head, counter: counter, previous: heads.last(of: context.device.id)?.hash)
    // What fails once the head shows would be told of a commit that has been made.
    try context.state.keepWatermarks()
    try member.register.stage(bytes, since: failedBarriers)
    // Whatever comes between, this machine knows what it has written: what shows and was not kept would be a copy's.
    let replacesKept = try mayReplaceKept
    if replacesKept { try context.state.keepHead(bytes, of: member.id, durably: false) }
    try showStaged()
    wroteHead = true
    note(
      LoadedHead(
        device: context.device.id, counter: counter, hash: Digest.sha256(bytes), late: nil,
        head: head, body: body))
    try updateWatermarks()
    if !replacesKept { try context.state.keepHead(bytes, of: member.id, durably: false) }
    // By the clock: the head's time goes on from times that may lie ahead of it.
    try context.state.noteClock(
      context.clock.milliseconds(),
      told: heads.timeOfOthers(than: context.device.id, by: context.clock))
  }

  /// Puts the head that was staged in its place. What a caller was told cannot be saved does not show by itself later: if it does not
  /// stand there all the same, the one before it is kept again.
  private func showStaged() throws(VaultError) {
    do { try member.register.showStaged() } catch {
      // Where the disk takes nothing at all, this is as if it had been stopped here.
      do { try member.keepOwnHeadDurably(heads) } catch {}
      throw error
    }
  }

  /// Whether the head that this machine has kept is of no use any more once the next one is staged. What it wrote as the device
  /// that it was, or before its person was let out of the member, may stand nowhere else, and nobody puts a device's first head
  /// in its place: until that shows, the one before it stays.
  private var mayReplaceKept: Bool {
    get throws(VaultError) {
      if former != nil { return false }
      if heads.loaded[context.device.id] != nil { return true }
      return try member.keptHead() == nil
    }
  }

  /// Takes what was written for this device's newest head. It has all that late heads had.
  private mutating func note(_ own: LoadedHead) {
    let device = own.device
    let replaced = heads.loaded[device]?.head.segments ?? []
    if let last = heads.last(of: device) {
      heads.lines.lineages[device, default: Lineage()].add(last.mark)
    }
    member.state.withLock {
      $0.replaced.replace(replaced, by: own.head.segments, counter: own.counter)
    }
    heads.loaded[device] = own
    heads.takenOver[device] = nil
    heads.lines.retold = []
    for known in heads.loaded.values where known.late != nil && !isWaiting {
      heads.loaded[known.device] = nil
      heads.broughtLate[known.device] = nil
      heads.takenOver[known.device] = known
    }
    heads.seen[device] = nil
    unwritten = []
  }

  /// What this machine has seen of everyone is what their heads are now. Of a line that another device has taken over,
  /// nothing has to be seen again.
  private func updateWatermarks() throws(VaultError) {
    let known = heads.loaded.values.map { ($0.device, $0.counter, $0.hash) }
    let register = member.register
    let (state, owner) = (heads, member)
    try context.state.updateWatermarks { marks in
      marks.forget { mark in
        guard case .head(owner.id, let device) = mark.path else { return false }
        return owner.retelling(of: device, HeadMark(mark), state) != nil
      }
      for (device, counter, hash) in known {
        marks.raise(register.path(of: device), counter: counter, hash: hash)
      }
    }
  }
}
