import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// How what a head names becomes part of what is known.
extension Member {
  /// Learns what a head names, if it is news.
  ///
  /// - Parameter reads: Whether another device's head counts only once the revisions that are news are whole; else it is
  ///   enough that they are there.
  /// - Returns: The records whose entries changed.
  /// - Throws: `branched` for a head of another line than the one that is followed here, `forked` and `rolledBack` for one
  ///   that is not newer; `missing` and `damaged` when something that it names is not here, or not whole.
  func adopt(
    _ head: LoadedHead, reading reads: Bool = false, _ heads: inout HeadsState
  ) throws(VaultError) -> [RecordID] {
    let isOwn = head.device == context.device.id
    let known = heads.last(of: head.device)
    if let known, known.mark == head.mark { return [] }
    if retelling(of: head.device, head.mark, heads) != nil {
      // Of a line that another device has taken over, whose head has it all.
      heads.lines.apart.remove(head.device)
      return []
    }
    try requireNotFormer(head.device, head.hash, &heads)
    let isLate = head.late != nil || known?.late != nil
    if let known, isLate {
      if isOwn { try requireOwnLine(OpenedHead(head), heads) }
      try requireNewer(head, than: known, &heads)
    }
    if head.late != nil, !isOwn, try isTakenOver(head, &heads) {
      pass(over: head, &heads)
      return try release(&heads)
    }
    // A late head of this device is not gone on with: the next one begins anew.
    let isContinued = isOwn && head.late == nil
    var segments = try loadNews(of: head, goingOn: isContinued, heads)
    for segment in segments { heads.lines.note(segment.lineage, of: segment.name) }
    try requireLines(head, &heads)
    if !isOwn { try requireRight(&segments, of: head, reading: reads, &heads) }
    let retold = try retell(&segments, of: head, heads)
    if isOwn {
      if !retold.isEmpty { heads.isToBeRewritten = true }
      try noteHidden(of: head, in: segments, &heads)
    } else {
      hold(&segments, of: head, &heads)
      // Whoever may only read learns it when the head comes, and not at each opening.
      if mayWrite || reads { try noteHidden(by: segments.flatMap(\.entries), &heads) }
    }
    var changed = join(segments, of: head, &heads)
    if isContinued {
      try goOn(with: segments, of: head.head, &heads)
    } else {
      heads.learned.formUnion(changed)
      try keepWhatIsLeftOut(by: head, after: known, &heads)
    }
    follow(head, &heads)
    changed += try release(&heads)
    try passOverTaken(&heads)
    return changed
  }

  /// - Throws: `branched` for a head that is not before `known`, nor goes on from it, as far as the lineage of that tells;
  ///   `rolledBack` for an older one.
  private func requireNewer(
    _ head: LoadedHead, than known: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    if head.counter > known.counter { return }
    let path = register.path(of: head.device).string
    let line = FollowedLine(mark: known.mark, lineage: heads.lines[head.device])
    guard line.isApart(from: head.mark) else {
      throw .rolledBack(path: path, found: head.counter, seen: known.counter)
    }
    heads.lines.apart.insert(head.device)
    throw .branched(path: path, above: 0)
  }

  /// The segments that are news, and of a head that is gone on with also the deltas that others name.
  ///
  /// - Throws: `missing`, `damaged`; `branched` as `requireNotTakenFromCopy`.
  private func loadNews(
    of head: LoadedHead, goingOn isContinued: Bool, _ heads: HeadsState
  ) throws(VaultError) -> [LoadedSegment] {
    let named = heads.namedSegments(in: head.late)
    do {
      return try loadSegments(of: head.head) { name, isDelta in
        !named.contains(name) || isContinued && isDelta
      }
    } catch {
      // While they are here they tell whose line it is: a power cut takes what was kept of a head that this machine has written.
      if error.isDamage, head.device == context.device.id {
        try requireNotTakenFromCopy(head, heads)
      }
      throw error
    }
  }

  /// - Throws: `branched` for a late head under this device's key that somebody has taken over, that this machine has not
  ///   written, and whose segments are not here to tell that it is of another line.
  private func requireNotTakenFromCopy(
    _ head: LoadedHead, _ heads: HeadsState
  ) throws(VaultError) {
    let own = context.device.id
    guard head.late != nil, let known = heads.knownLine(own, by: witnesses), !known.has(head.mark),
      case .certain = heads.takeover(of: head, by: witnesses), try !isKept(head.hash)
    else { return }
    throw .branched(path: register.path(of: own).string, above: 0)
  }

  /// Whether what another device's head names is here, and says what the entries say of it: what revisions say stands in
  /// the segments afterwards.
  private func requireRight(
    _ segments: inout [LoadedSegment], of head: LoadedHead, reading reads: Bool,
    _ heads: inout HeadsState
  ) throws(VaultError) {
    let entries = segments.flatMap(\.entries)
    if !heads.followedBefore.contains(head.hash) {
      try requireRevisions(entries, of: head, &heads)
    }
    if reads, try !isKnown(head) { try requireWholeRevisions(entries, of: head, &heads) }
    try compare(&segments, of: head, &heads)
  }

  /// Another device's head counts once the revisions that are news are here: a program that copies file by file may
  /// bring it before them, and what this device's next head names must exist.
  ///
  /// - Throws: `missing`.
  func requireRevisions(
    _ entries: [RecordEntry], of head: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    let news = withRecords(heads) { known in
      entries.filter { known.isNews($0, from: head.late) }
    }
    var joined: Manifest?
    for entry in news {
      if try objects.isPresent(entry.revision) { continue }
      // What a later entry of the head replaces, or one that waits for this head, may have been collected before it came, or
      // was never brought.
      let all = joined ?? Manifest(entries + entriesWaiting(for: head, heads))
      joined = all
      if all.holds(entry) { throw .missing(path: objects.path(of: entry.revision).string) }
    }
  }

  private func join(
    _ segments: [LoadedSegment], of head: LoadedHead, _ heads: inout HeadsState
  ) -> [RecordID] {
    if heads.loaded.isEmpty {
      let count = segments.reduce(0) { $0 + $1.entries.count }
      if heads.recordsReadAnew != nil {
        heads.recordsReadAnew?.reserveCapacity(count)
      } else {
        state.withLock { $0.reserveCapacity(count) }
      }
    }
    var changed: [RecordID] = []
    for segment in segments { changed += apply(segment.entries, of: head, &heads) }
    return changed
  }

  /// Joins entries into what is known.
  ///
  /// - Returns: The records whose entries changed.
  func apply(
    _ entries: [RecordEntry], of head: LoadedHead? = nil, _ heads: inout HeadsState
  ) -> [RecordID] {
    for entry in entries { heads.note(entry.time, by: context.clock) }
    guard let head, let late = head.late else {
      return take(entries, from: nil, &heads)
    }
    var brought = heads.broughtLate[head.device] ?? []
    let changed = take(entries, from: late, &heads) { brought.insert($0.revision) }
    heads.broughtLate[head.device] = brought
    return changed
  }

  /// A head that does not go on from the one before it, as far as its lineage tells, may not have all that one brought: a
  /// repair wrote its lists anew from what was left. What still counts of that stands in this device's next head, or no head
  /// would name it.
  ///
  /// - Parameter known: The head of its device that was followed before.
  private func keepWhatIsLeftOut(
    by head: LoadedHead, after known: LoadedHead?, _ heads: inout HeadsState
  ) throws(VaultError) {
    guard mayWrite, let known, known.late == nil, head.late == nil,
      !heads.lines.lineage(of: head.head, head.device).contains(known.mark),
      let before = try ifWhole(entries(of: known.head))
    else { return }
    let named = Manifest(try entries(of: head.head))
    let leftOut = withRecords(heads) { records in
      before.filter { named.isNews($0) && records.holds($0) }
    }
    if leftOut.isEmpty { return }
    heads.learned.formUnion(leftOut.map(\.record))
    heads.hasLearnedOfFormer = true
  }

  /// This device's next head goes on from the segments of this one.
  private func goOn(
    with segments: [LoadedSegment], of head: Head, _ heads: inout HeadsState
  ) throws(VaultError) {
    heads.ownSegments = HeadSegments(
      checkpoint: head.checkpoint,
      checkpointByteCount: try checkpointByteCount(of: head),
      deltas: segments.filter(\.isDelta).map { DeltaPlan.Delta($0, of: context.device.id) })
    let told = Dictionary(grouping: head.strays, by: \.device)
    heads.lines.strays.merge(told) { known, _ in known }
  }

  /// From now on this is the head of its device.
  private func follow(_ head: LoadedHead, _ heads: inout HeadsState) {
    if let former = heads.former, head.hasTakenOver(former.device, for: context.device.id) {
      heads.former = nil
    }
    let told = marksTold(by: head, heads)
    heads.loaded[head.device] = head
    heads.takenOver[head.device] = nil
    heads.lines.lineages[head.device] = heads.lines.lineage(of: head.head, head.device)
    // What those who had read it say of the line was taken as it stands.
    if told.contains(where: { retelling(of: $0.device, $0.mark, heads) != nil }) {
      if heads.recordsReadAnew == nil {
        heads.isToBeRead = true
      } else {
        heads.lines.toldLate[head.hash] = heads.linesTold(by: head, believedBy: witnesses)
      }
    }
    heads.note(head.head.time, by: context.clock)
  }

  /// Of the devices of which a head says that lines were taken over: the heads that are followed here, or that those go on
  /// from, as far as nobody has said so of them before.
  private func marksTold(
    by head: LoadedHead, _ heads: HeadsState
  ) -> [(device: DeviceID, mark: HeadMark)] {
    let devices = Set(head.head.branches.map(\.device) + head.head.retold.map(\.device))
    if devices.isEmpty { return [] }
    let followed = heads.loaded.values.filter { $0.device != head.device }
    let marks =
      followed.map { (device: $0.device, mark: $0.mark) }
      + followed.flatMap(\.head.basis).map { (device: $0.device, mark: $0.mark) }
    return marks.filter {
      devices.contains($0.device) && retelling(of: $0.device, $0.mark, heads) == nil
    }
  }
}
