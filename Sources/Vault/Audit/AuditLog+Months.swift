import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// How old segments become one a month, and what replaces which. Docs/Format.md, section 13, "Segments of a month".
extension AuditLog {
  static let monthAgeMilliseconds: UInt64 = 30 * CivilTime.dayMilliseconds
  /// Of one segment; then the next is begun.
  private static let eventByteLimit = 384 << 10
  private static let usedSlotLimit = 512

  /// A segment of this device, opened.
  private struct Opened {
    let body: AuditSegmentBody
    let hash: FileHash
    let events: AuditEvents

    var newest: UInt64 { events.events.map(\.time).max() ?? 0 }
    /// Of the newest event, in UTC.
    var month: (year: Int, month: Int) {
      let time = CivilTime(milliseconds: newest)
      return (time.year, time.month)
    }
    var used: [JournalSlot] {
      body.slots.prefix(Int(events.usedSlots)).enumerated().map { position, slot in
        let origin = slot.origin(in: body, at: position)
        var slot = slot
        (slot.first, slot.position) = (origin.first, UInt32(origin.position))
        return slot
      }
    }
  }

  /// Puts this device's segments that are older than 30 days into one a month.
  ///
  /// - Parameter oldest: Events of before, in milliseconds since 1970, are not kept; what others are to read of them is.
  /// - Returns: How many files there are less.
  package func joinMonths(keepingFrom oldest: UInt64 = 0) throws(VaultError) -> Int {
    guard !context.isReadOnly, context.removal == nil else { return 0 }
    let now = context.clock.milliseconds()
    return try context.whileThisDevice { () throws(VaultError) in
      try context.state.withLock("audit-lock") { () throws(VaultError) in
        var count = 0
        for run in try oldRuns(now: now) {
          let isWhole = run.count > 1
          let drops = run.contains { $0.events.events.contains { $0.time < oldest } }
          guard isWhole || drops else { continue }
          try join(run, keepingFrom: oldest)
          count += run.count - 1
        }
        return count
      }
    }
  }

  /// Whole months of segments that are old enough, each cut where it is too much for one segment.
  private func oldRuns(now: UInt64) throws(VaultError) -> [[Opened]] {
    let device = context.device.id
    var runs: [[Opened]] = []
    var run: [Opened] = []
    var last: (year: Int, month: Int)?
    // The newest one is where the log ends.
    for first in try segments(of: device) {
      let found = try ifWhole(open(first))
      guard let found else { return runs }
      if let month = last, found.month != month {
        runs += split(run)
        run = []
      }
      guard found.newest + Self.monthAgeMilliseconds <= now else { return runs }
      run.append(found)
      last = found.month
    }
    return runs
  }

  private func split(_ run: [Opened]) -> [[Opened]] {
    var parts: [[Opened]] = []
    var (size, slots) = (0, 0)
    for segment in run {
      let more = segment.events.encoded().count - segment.events.padding.count
      let isFull =
        size + more > Self.eventByteLimit || slots + segment.used.count > Self.usedSlotLimit
      if parts.isEmpty || isFull {
        parts.append([])
        (size, slots) = (0, 0)
      }
      parts[parts.count - 1].append(segment)
      size += more
      slots += segment.used.count
    }
    return parts
  }

  private func open(_ first: UInt64) throws(VaultError) -> Opened {
    let (body, hash) = try AuditSegmentBody.load(
      context.device.id, first: first, files: context.signedFiles, people: context.people)
    let path = VaultPath.auditSegment(body.device, first: first)
    guard let key = context.keys.auditKey(generation: body.generation) else {
      throw .damaged(path: path.string, reason: "it is sealed with an unknown key")
    }
    let plain = try context.signedFiles.open(body.sealed, with: key, .audit, path, counter: first)
    do {
      return Opened(body: body, hash: hash, events: try AuditEvents(decoding: plain))
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// Puts one segment in the place of these. A crash leaves both, and whoever reads gives each event once.
  private func join(_ run: [Opened], keepingFrom oldest: UInt64) throws(VaultError) {
    guard let begin = run.first, let end = run.last, end.body.first < Limits.number else { return }
    let replaces = run.flatMap { segment in
      segment.body.replaces + [ReplacedSegment(first: segment.body.first, hash: segment.hash)]
    }.sorted { $0.first < $1.first }
    guard replaces.count <= Limits.replacedSegments else { return }
    let keys = context.keys
    let device = context.device
    let first = end.body.first + 1
    let path = VaultPath.auditSegment(device.id, first: first)
    var kept = run.flatMap(\.events.events).filter { $0.time >= oldest && !$0.saysNothing }
    if kept.isEmpty { kept = [.sayingNothing(at: end.newest)] }
    let used = run.flatMap(\.used)
    let events = AuditEvents(events: kept, usedSlots: UInt32(used.count))
    let body = AuditSegmentBody(
      person: context.person, device: device.id, first: first, previous: begin.body.previous,
      generation: keys.generation,
      sealed: context.signedFiles.seal(
        events.paddedToPower(atLeast: SegmentPacking.byteCount).encoded(), with: keys.auditKey,
        .audit, path, counter: first),
      slots: used + unusedSlots(beside: used.count, in: replaces), replaces: replaces)
    let bytes = context.signedFiles.sign(body.encoded(), .audit, path, with: device)
    try storing { () throws(BlobStoreError) in
      try context.store.replace(BlobPath(path.string), bytes, durably: true)
      for segment in run {
        try context.store.remove(
          BlobPath(VaultPath.auditSegment(device.id, first: segment.body.first).string))
      }
    }
  }

  private func unusedSlots(beside count: Int, in replaced: [ReplacedSegment]) -> [JournalSlot] {
    var all = SegmentPacking.slotCount
    while all < count { all *= 2 }
    return (count..<all).map { _ in
      JournalSlot(
        tag: .random(), sealed: .nothing(like: SegmentPacking.slotByteCount),
        first: replaced.randomElement()?.first ?? 0,
        position: .random(in: 0..<UInt32(SegmentPacking.slotCount)))
    }
  }
}

extension AuditEvent {
  /// Written where there was nothing to tell.
  static func sayingNothing(at time: UInt64) -> AuditEvent {
    AuditEvent(time: time, action: AuditAction.join.rawValue, count: 1)
  }

  var saysNothing: Bool { action == AuditAction.join.rawValue && member == nil && detail.isEmpty }
}

extension AuditEvents {
  /// Padded to a power of two; a few bytes fewer events never matter, since a padding fills any but three rooms.
  fileprivate func paddedToPower(atLeast least: Int) -> AuditEvents {
    var size = least
    let count = encoded().count
    while size < count || !Self.canFill(size - count) { size *= 2 }
    return padded(to: size) ?? self
  }
}
