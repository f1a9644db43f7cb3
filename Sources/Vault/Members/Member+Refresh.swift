import BlobStore
import VaultCrypto
import VaultModel
import VaultTrust

/// The fingerprints of the files that heads are judged by: closings, certificates, links.
typealias StatementMarks = [BlobPath: UInt64]

/// What a process knows of the heads of one member.
struct HeadsState: Sendable {
  /// The epoch of which this is so; nil before anything was read.
  var epoch: StatementID?
  /// The device that this machine was when it was read; nil before.
  var owner: DeviceID?
  var loaded: [DeviceID: LoadedHead] = [:]
  /// Late heads of other devices that a head of another epoch has taken over: nothing of them is needed.
  var takenOver: [DeviceID: LoadedHead] = [:]
  /// What is known only from late heads, by the device whose head brought it.
  var broughtLate: [DeviceID: Set<ContentDigest>] = [:]
  /// The fingerprints of the head files as they were when they were read.
  var seen: [DeviceID: UInt64] = [:]
  /// What keeps heads of other devices from counting yet; these are not among those seen.
  var waiting: [DeviceID: Obstacle] = [:]
  /// Devices whose head does not hold, with the statements that it was judged by: a program that copies file by file
  /// may bring others later.
  var refused: [DeviceID: StatementMarks] = [:]
  /// What this device's next head goes on from.
  var ownSegments = HeadSegments()
  /// Records learned from other devices that this device's head does not have yet.
  var learned: Set<RecordID> = []
  /// The greatest time known that this machine's clock believes.
  var lastTime = HybridTime.zero
  /// No counter up to this one may be used by this device.
  var counterFloor: UInt64 = 0
  /// Whether this device has written no head, by all that this machine knows.
  var hasNoOwnHead: Bool { counterFloor == 0 && owner.map { last(of: $0) == nil } ?? true }
  var lines = KnownLines()
  /// The records as far as they were read, while all heads are read anew; nil else.
  var recordsReadAnew: Manifest?
  /// Heads that were followed before all heads are read anew: what they name was here, or replaced by what others name.
  var followedBefore: Set<FileHash> = []
  /// What was compared of other devices' segments.
  var compared = ComparedSegments()
  /// What the sync under way has opened of what it brought; nothing at any other time.
  var read = ReadRevisions()
  /// Entries that have a counter of a device that it has not reached, as far as is known.
  var held: [HeldEntry] = []
  /// What this device has written and others' entries hide.
  var hidden = HiddenVersions()
  /// Counters in revisions that a repair took, of devices whose heads may be lost.
  var repaired: [DeviceID: UInt64] = [:]
  /// A device's line was taken over by another one after its head was read: all heads are to be read anew.
  var isToBeRead = false
  /// This device's head has records as written by a device whose line another one has taken over.
  var isToBeRewritten = false

  /// Goes on from this time, unless it lies ahead of the clock: then only what was written at it does.
  mutating func note(_ time: HybridTime, by clock: WallClock) {
    if time > lastTime, clock.believes(time) { lastTime = time }
  }

  /// A clock that was turned back since has shown that it was ahead before.
  mutating func forgetTimeAhead(of clock: WallClock) {
    if !clock.believes(lastTime) { lastTime = .zero }
  }

  /// The segments that heads name: all that they hold is known.
  var namedSegments: Set<ContentDigest> { Set(loaded.values.flatMap(\.head.segments)) }

  /// Those that heads of one epoch name. What a head of another one brought is known as late only.
  func namedSegments(in late: StatementID?) -> Set<ContentDigest> {
    Set(loaded.values.lazy.filter { $0.late == late }.flatMap(\.head.segments))
  }

  /// The newest head of a device, whether it counts or not.
  func last(of device: DeviceID) -> LoadedHead? { loaded[device] ?? takenOver[device] }

  /// Whether a head of another epoch says that its device has taken over this late one. It may be late itself: whoever
  /// takes that over has both.
  func covers(_ late: LoadedHead) -> Bool {
    loaded.values.contains {
      $0.body.epoch != late.body.epoch && $0.head.covers(late.device, upTo: late.counter)
    }
  }

  /// Whether a head of the current epoch does.
  func isTakenOverNow(_ late: LoadedHead) -> Bool {
    loaded.values.contains { $0.late == nil && $0.head.covers(late.device, upTo: late.counter) }
  }
}

/// A segment that was read.
struct LoadedSegment: Sendable {
  let name: ContentDigest
  let isDelta: Bool
  let byteCount: Int
  var entries: [RecordEntry]
  let lineage: SegmentLineage?
}

extension Member {
  /// Catches up with what other processes and devices have committed.
  ///
  /// Costs one listing of the member's heads when nothing changed.
  ///
  /// - Parameter read: What was opened of the revisions that are news: these are not opened again.
  /// - Returns: The records whose entries changed.
  /// - Throws: `rolledBack` when this device's head is older than it was; what reading throws.
  package func refresh(having read: ReadRevisions = ReadRevisions()) throws(VaultError) -> Set<
    RecordID
  > {
    do throws(VaultError) {
      return try heads.withLock { (heads) throws(VaultError) in
        heads.read = read
        defer { heads.read = ReadRevisions() }
        return try catchUp(&heads)
      }
    } catch {
      if mustPart(for: error) {
        do throws(VaultError) {
          return try withWriter(succeedsSpentEpoch: false) { (_, changed) throws(VaultError) in
            changed
          }
        } catch {
          // It is another device by now, which writes nothing yet.
          guard case .epochSpent = error else { throw error }
          return try heads.withLock { (heads) throws(VaultError) in try catchUp(&heads) }
        }
      }
      guard isApartFromOwn(error), try hasFollowedSlot() else { throw error }
      return try heads.withLock { (heads) throws(VaultError) in try catchUp(&heads) }
    }
  }

  /// Whether another process of this machine has made it a device of its own: then what is under the former one's key is
  /// another machine's. Who writes follows when it writes; who only reads, here.
  private func hasFollowedSlot() throws(VaultError) -> Bool {
    let device = context.device.id
    try context.followDeviceFile()
    return context.device.id != device
  }

  /// Whether the error says that the head under this device's key is of another line than what is known here of it.
  private func isApartFromOwn(_ error: VaultError) -> Bool {
    guard case .branched(register.path(of: context.device.id).string, _) = error else {
      return false
    }
    return true
  }

  /// Whether this machine, which was put back to an earlier state or copied, is to go on as a device of its own.
  func mustPart(for error: VaultError) -> Bool {
    isApartFromOwn(error) && mayWrite && !context.isReadOnly
  }

  func catchUp(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    var changed = try followEpoch(&heads)
    if let owner = heads.owner, owner != context.device.id { heads.isToBeRead = true }
    if heads.isToBeRead { changed.formUnion(try readAnew(&heads)) }
    let statements = heads.refused.isEmpty ? nil : try statementMarks()
    let trust = context.people.trust
    heads.loaded = heads.loaded.filter { trust.device($0.value.certificate) != .former }
    // Somebody may have been taken out without a new epoch yet.
    if heads.loaded.values.contains(where: { !stillCounts($0) }) { heads.isToBeRead = true }
    var hasNews = !changed.isEmpty
    var news = try headFiles().filter { (device, fingerprint) in
      heads.seen[device] != fingerprint
        || heads.refused[device].map({ $0 != statements }) ?? false
    }
    // A program that copies may have brought a device's certificate beside its first head.
    if news.contains(where: { !context.isCertified($0.device) }) {
      try context.reloadPeople()
      news = inReadingOrder(news)
    }
    for (device, fingerprint) in news {
      let isOwn = device == context.device.id && mayWrite
      let look = try look(at: device, fingerprint, heads.waiting[device])
      if look.isInVain { continue }
      do throws(VaultError) {
        // After each commit of this process: it was verified, or written, before.
        if isOwn, let known = heads.loaded[device], try register.fileHash(of: device) == known.hash
        {
          heads.seen[device] = fingerprint
          continue
        }
        let head = try loadHead(of: device)
        // Whoever gives access, or more of it, writes a head after that.
        if !isOwn, register.links.role(of: head.person, now: 0) == .owner { try loadLinks() }
        // It may be the first one of a new epoch.
        if heads.epoch != register.keys.currentEpoch {
          return changed.union(try followEpoch(&heads))
        }
        let before = heads.last(of: device)?.mark
        let news = try adopt(head, reading: !isOwn && !look.hasWaitedEnough, &heads)
        hasNews = hasNews || heads.last(of: device)?.mark != before
        changed.formUnion(news)
        note(changes: Set(news))
        noteLateHeads(heads)
        heads.seen[device] = fingerprint
        heads.refused[device] = nil
        heads.waiting[device] = nil
      } catch {
        if isOwn, heads.loaded[device] != nil || heads.hasNoOwnHead, try hasForgedOwnHead {
          // This machine knows what it has written, or that it has not yet, and writes over it.
          heads.seen[device] = fingerprint
          continue
        }
        // Another device's broken head hides only what that device alone has written.
        if isOwn || mustPart(for: error) { throw error }
        heads.waiting[device] = look.obstacle(after: error, of: id)
        if heads.waiting[device] != nil { continue }
        heads.seen[device] = fingerprint
        heads.refused[device] = try statementMarks()
      }
    }
    if heads.isToBeRead { changed.formUnion(try readAnew(&heads)) }
    // What waited for this device's own counter no other head releases.
    let released = Set(try release(&heads))
    note(changes: released)
    changed.formUnion(released)
    // What a head lacks may be what another one has replaced, and which line it is of may be what another one tells.
    if hasNews, !heads.waiting.isEmpty || !heads.lines.apart.isEmpty {
      heads.waiting = [:]
      for device in heads.lines.apart { heads.seen[device] = nil }
      changed.formUnion(try catchUp(&heads))
    }
    guard !changed.isEmpty else { return changed }
    // Also when another process of this device had joined everything: a mount shows what one shows that begins now.
    let moved = state.withLock { state in
      let moved = state.findDisplaced()
      state.note(moved)
      return moved
    }
    changed.formUnion(moved)
    return changed
  }

  private func statementMarks() throws(VaultError) -> StatementMarks {
    var marks: StatementMarks = [:]
    try storing { () throws(BlobStoreError) in
      for folder: BlobPath in [
        "people", BlobPath("members/\(id.hex)/links"), BlobPath("members/\(id.hex)/wraps"),
      ] {
        try context.store.walk(under: folder, depth: 6) { path, entry in
          if let path, entry.kind == .blob { marks[path] = entry.fingerprint }
          return .goOn
        }
      }
    }
    return marks
  }

  /// The devices that have a head here and the fingerprints of the files, in the order in which they are read.
  func headFiles() throws(VaultError) -> [(device: DeviceID, fingerprint: UInt64)] {
    let folder = register.folder
    let entries = try storing { () throws(BlobStoreError) in try context.store.list(folder) }
    return inReadingOrder(
      entries.compactMap { entry in
        DeviceID(hex: entry.name).map { (device: $0, fingerprint: entry.fingerprint) }
      })
  }

  /// This device first, then those of owners, each by its id.
  ///
  /// What an editor's head says of other devices' heads nobody else has signed: where both come at once, an owner's own
  /// word goes before it.
  private func inReadingOrder(
    _ files: [(device: DeviceID, fingerprint: UInt64)]
  ) -> [(device: DeviceID, fingerprint: UInt64)] {
    let (own, owners) = (context.device.id, ownersDevices)
    return files.sorted { one, other in
      let ranks = [one, other].map { $0.device == own ? 0 : owners.contains($0.device) ? 1 : 2 }
      return (ranks[0], one.device) < (ranks[1], other.device)
    }
  }

  /// The devices of the member's owners.
  var ownersDevices: Set<DeviceID> {
    let owners = context.people.persons.values.filter {
      register.links.role(of: $0.id, now: 0) == .owner
    }
    return Set(owners.flatMap(\.devices.keys))
  }

  /// The head of a device that may be newer than what is known of people.
  private func loadHead(of device: DeviceID) throws(VaultError) -> LoadedHead {
    do throws(VaultError) { return try register.load(device) } catch {
      try context.reloadPeople()
      try loadLinks()
      return try register.load(device)
    }
  }

  /// Learns what a head names, if it is news.
  ///
  /// - Parameter reads: Whether another device's head counts only once the revisions that are news are whole; else it is
  ///   enough that they are there.
  /// - Returns: The records whose entries changed.
  func adopt(
    _ head: LoadedHead, reading reads: Bool = false, _ heads: inout HeadsState
  ) throws(VaultError) -> [RecordID] {
    let isOwn = head.device == context.device.id
    let path = register.path(of: head.device).string
    let known = heads.last(of: head.device)
    if let known, known.mark == head.mark { return [] }
    if retelling(of: head.device, head.mark, heads) != nil {
      // Of a line that another device has taken over, whose head has it all.
      heads.lines.apart.remove(head.device)
      return []
    }
    let isLate = head.late != nil || known?.late != nil
    if let known, isLate {
      guard head.counter != known.counter else {
        throw .forked(path: path, counter: head.counter)
      }
      guard head.counter > known.counter else {
        throw .rolledBack(path: path, found: head.counter, seen: known.counter)
      }
    }
    if head.late != nil, !isOwn && heads.covers(head) {
      pass(over: head, &heads)
      return try release(&heads)
    }
    // A late head of this device is not gone on with: the next one begins anew.
    let isContinued = isOwn && head.late == nil
    var segments = try newSegments(of: head, isOwn: isContinued, heads)
    for segment in segments { heads.lines.note(segment.lineage, of: segment.name) }
    try requireLines(head, comparesOwn: !isLate, &heads)
    if !isOwn {
      let entries = segments.flatMap(\.entries)
      if !heads.followedBefore.contains(head.hash) {
        try requireRevisions(entries, from: head.late, &heads)
      }
      if reads, try !isKnown(head) { try requireWholeRevisions(entries, from: head.late, &heads) }
      try compare(&segments, of: head, &heads)
    }
    let retold = try retell(&segments, of: head, heads)
    if isOwn, !retold.isEmpty { heads.isToBeRewritten = true }
    if !isOwn {
      hold(&segments, of: head, &heads)
      try noteHidden(by: segments.flatMap(\.entries), &heads)
    }
    var changed: [RecordID] = []
    if heads.loaded.isEmpty {
      let count = segments.reduce(0) { $0 + $1.entries.count }
      withRecords(&heads) { $0.reserveCapacity(count) }
    }
    for segment in segments { changed += apply(segment.entries, of: head, &heads) }
    if isContinued {
      heads.ownSegments = HeadSegments(
        checkpoint: head.head.checkpoint,
        checkpointByteCount: try checkpointByteCount(of: head.head),
        deltas: segments.filter(\.isDelta).map { DeltaPlan.Delta($0, of: head.device) })
      for stray in head.head.strays where heads.lines.strays[stray.device] == nil {
        heads.lines.strays[stray.device] = stray
      }
    } else {
      heads.learned.formUnion(changed)
    }
    heads.loaded[head.device] = head
    heads.takenOver[head.device] = nil
    heads.lines.lineages[head.device] = heads.lines.lineage(of: head.head, head.device)
    for branch in head.head.branches {
      guard let followed = heads.loaded[branch.device] else { continue }
      heads.isToBeRead =
        heads.isToBeRead || retelling(of: branch.device, followed.mark, heads) != nil
    }
    heads.note(head.head.time, by: context.clock)
    changed += try release(&heads)
    for known in heads.loaded.values
    where known.late != nil && known.device != context.device.id && heads.covers(known) {
      pass(over: known, &heads)
    }
    return changed
  }

  /// Whether a head of another device that counted counts by the links as they are now.
  private func stillCounts(_ head: LoadedHead) -> Bool {
    if head.device == context.device.id { return true }
    let trust = context.people.trust
    return switch trust.verdict(on: head.body, in: register.links.trust, current: nil) {
    case .counts, .late, .takenOver, .waiting: true
    case .former, .reader, .stranger, .broken: false
    }
  }

  /// A late head that was taken over, or that nothing is taken over of any more.
  private func pass(over head: LoadedHead, _ heads: inout HeadsState) {
    heads.loaded[head.device] = nil
    heads.broughtLate[head.device] = nil
    heads.takenOver[head.device] = head
    heads.note(head.head.time, by: context.clock)
  }

  /// The segments that a head names and that are news; of this device's own also the deltas that are not.
  private func newSegments(
    of head: LoadedHead, isOwn: Bool, _ heads: HeadsState
  ) throws(VaultError) -> [LoadedSegment] {
    let known = heads.namedSegments(in: head.late)
    return try loadSegments(of: head.head) { name, isDelta in
      !known.contains(name) || isOwn && isDelta
    }
  }

  /// Segments that a head names, in their order.
  ///
  /// - Throws: `missing`, `damaged`.
  func loadSegments(
    of head: Head,
    where isWanted: (_ name: ContentDigest, _ isDelta: Bool) -> Bool = { _, _ in true }
  ) throws(VaultError) -> [LoadedSegment] {
    let named = head.checkpoint.map { ($0, false) } + head.deltas.map { ($0, true) }
    let needed = named.filter(isWanted)
    let objects = objects
    return try inParallel(needed) { (name, isDelta) throws(VaultError) in
      let bytes = try objects.content(name, kind: .segment)
      do throws(ModelError) {
        let segment = try Segment(decoding: bytes)
        return LoadedSegment(
          name: name, isDelta: isDelta, byteCount: bytes.count, entries: segment.entries,
          lineage: segment.lineage)
      } catch {
        throw VaultError(error, path: objects.path(of: name).string)
      }
    }
  }

  /// Another device's head counts once the revisions that are news are here: a program that copies file by file may
  /// bring it before them, and what this device's next head names must exist.
  ///
  /// - Throws: `missing`.
  func requireRevisions(
    _ entries: [RecordEntry], from late: StatementID?, _ heads: inout HeadsState
  ) throws(VaultError) {
    let news = withRecords(&heads) { known in entries.filter { known.isNews($0, from: late) } }
    var joined: Manifest?
    for entry in news {
      if try objects.isPresent(entry.revision) { continue }
      // What a later entry of the head replaces may have been collected before it came.
      let all = joined ?? Manifest(entries)
      joined = all
      guard
        all.rivals(of: entry.record).contains(where: {
          $0.version.compare(to: entry.version) == .dominates
        })
      else { throw .missing(path: objects.path(of: entry.revision).string) }
    }
  }

  /// All that the segments of a head hold.
  func entries(of head: Head) throws(VaultError) -> [RecordEntry] {
    var entries: [RecordEntry] = []
    for name in head.segments { entries += try self.entries(in: name) }
    return entries
  }

  func entries(in segment: ContentDigest) throws(VaultError) -> [RecordEntry] {
    let bytes = try objects.content(segment, kind: .segment)
    do throws(ModelError) { return try Segment(decoding: bytes).entries } catch {
      throw VaultError(error, path: objects.path(of: segment).string)
    }
  }

  private func checkpointByteCount(of head: Head) throws(VaultError) -> Int {
    var total = 0
    for name in head.checkpoint {
      let path = objects.path(of: name)
      total += Int(
        clamping: try storing { () throws(BlobStoreError) in try context.store.size(of: path) } ?? 0
      )
    }
    return total
  }

  /// Joins entries into what is known.
  ///
  /// - Returns: The records whose entries changed.
  func apply(
    _ entries: [RecordEntry], of head: LoadedHead? = nil, _ heads: inout HeadsState
  ) -> [RecordID] {
    for entry in entries { heads.note(entry.time, by: context.clock) }
    guard let head, let late = head.late else {
      let changed = withRecords(&heads) { $0.take(entries) }
      note(touched: changed, heads)
      return changed
    }
    var brought = heads.broughtLate[head.device] ?? []
    let changed = withRecords(&heads) { known in
      known.take(entries, from: late) { brought.insert($0.revision) }
    }
    heads.broughtLate[head.device] = brought
    note(touched: changed, heads)
    return changed
  }

  // MARK: Opening

  /// Reads all heads for the first time, and compares them with what this machine has seen before.
  ///
  /// - Parameter marks: The watermarks, loaded before this call.
  /// - Returns: What was found wrong and can be lived with.
  /// - Throws: `rolledBack` when this device's own head is older than it was, unless
  ///   `acceptsRollback`; then counters go on above everything that was ever used.
  func load(
    marks: Watermarks, acceptsRollback: Bool
  ) throws(VaultError) -> [Problem] {
    var problems: [Problem] = []
    try heads.withLock { (heads) throws(VaultError) in
      problems += try foreignFiles()
      for mark in marks.marks {
        guard case .head(id, let device) = mark.path, mark.counter > 0,
          !context.people.isFormer(device)
        else { continue }
        heads.lines.before[device] = HeadMark(mark)
        if device == context.device.id { heads.counterFloor = max(mark.floor, mark.counter) }
      }
      if acceptsRollback { heads.lines.before[context.device.id] = nil }
      heads.compared = try context.state.loadCompared(of: id)
      let kept = try mayWrite ? keptHead(marks) : nil
      for (path, error) in try readHeads(&heads, kept: kept?.head) {
        if try isOfFormerWriter(path) { continue }
        if let kept, try isSettledByKept(error, at: path, kept, heads) { continue }
        if mustPart(for: error), path != register.path(of: context.device.id) {
          state.withLock { $0.isApartFromFile = true }
          continue
        }
        problems.append(Problem(error, path: path.string))
        // Somebody has put it where this device has none yet: it is told, and written over.
        if path == register.path(of: context.device.id), heads.hasNoOwnHead, try hasForgedOwnHead {
          continue
        }
        // A head of before, when this person could write, counts no more than anyone else's.
        if path == register.path(of: context.device.id), mayWrite {
          state.withLock { $0.damage = $0.damage ?? error }
        }
      }
      try compareWithWatermarks(marks, acceptsRollback, &heads, &problems)
      if let kept { try learnRest(of: kept.head, &heads) }
      problems += self.problems(of: heads)
    }
    state.withLock { _ = $0.findDisplaced() }
    return problems
  }

  /// Whether what is wrong with the file of this device's head is set right by the one that this machine has kept: an
  /// older one, or none, is replaced by it, since nobody else can have written it and all that it names is here.
  private func isSettledByKept(
    _ error: VaultError, at path: VaultPath, _ kept: (head: LoadedHead, bytes: [UInt8]),
    _ heads: HeadsState
  ) throws(VaultError) -> Bool {
    guard path == register.path(of: kept.head.device),
      heads.loaded[kept.head.device]?.hash == kept.head.hash
    else { return false }
    switch error {
    case .branched:
      state.withLock { $0.isApartFromFile = true }
      return true
    case .rolledBack, .damaged:
      guard !context.isReadOnly, kept.head.device == context.device.id else { return false }
      // One that this device has signed, and that cannot be read, is not to be replaced by an older one.
      if case .damaged = error, try !hasForgedOwnHead { return false }
      try context.state.withCommitLock { () throws(VaultError) in try register.store(kept.bytes) }
      return true
    default: return false
    }
  }

  /// Whether what stands in the place of this device's head is nothing that the device has signed: also its own head, which
  /// somebody without its key has spelled otherwise.
  var hasForgedOwnHead: Bool {
    get throws(VaultError) {
      do throws(VaultError) {
        _ = try HeadJudges(people: context.people, links: register.links)
          .judge(context.device.id, in: context.signedFiles)
        return false
      } catch {
        guard case .damaged = error else { throw error }
        return true
      }
    }
  }

  private func isOfFormerWriter(_ path: VaultPath) throws(VaultError) -> Bool {
    guard case .head(_, let device) = path else { return false }
    return try HeadJudges(people: context.people, links: register.links)
      .isOfFormerWriter(device, in: context.signedFiles)
  }

  private func compareWithWatermarks(
    _ marks: Watermarks, _ acceptsRollback: Bool, _ heads: inout HeadsState,
    _ problems: inout [Problem]
  ) throws(VaultError) {
    for mark in marks.marks {
      guard case .head(id, let device) = mark.path else { continue }
      let seen = HeadMark(mark)
      if retelling(of: device, seen, heads) != nil { continue }
      let path = mark.path.string
      let isOwn = device == context.device.id
      guard let head = heads.loaded[device] ?? heads.takenOver[device] else {
        if damageReason == nil, isOwn, mayWrite {
          let error = VaultError.missing(path: path)
          problems.append(Problem(error, path: path))
          state.withLock { $0.damage = error }
        }
        continue
      }
      if head.counter < mark.counter {
        let error = VaultError.rolledBack(path: path, found: head.counter, seen: mark.counter)
        guard acceptsRollback else {
          if isOwn, !context.isReadOnly { throw error }
          problems.append(Problem(error, path: path))
          continue
        }
        try context.state.withCommitLock { () throws(VaultError) in
          try context.state.updateWatermarks(durably: true) {
            $0.accept(mark.path, counter: head.counter, hash: head.hash)
          }
        }
      } else if head.counter == mark.counter, head.hash != mark.hash {
        let error = VaultError.forked(path: path, counter: head.counter)
        problems.append(Problem(error, path: path))
        if isOwn { state.withLock { $0.damage = $0.damage ?? error } }
      }
    }
  }

  private func foreignFiles() throws(VaultError) -> [Problem] {
    let entries = try storing { () throws(BlobStoreError) in
      try context.store.list(register.folder)
    }
    return entries.filter { DeviceID(hex: $0.name) == nil }.map {
      .foreign(register.folder.appending($0.name).string)
    }
  }
}
