import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// How events come from this machine's state into segments of the vault. Docs/Format.md, section 13.
extension AuditLog {
  /// When what waits has more bytes than so many segments hold, all of it is published at once.
  static let backlogSegmentLimit = 16

  /// Keeps what waits in memory, and puts the oldest events that wait into one segment, and its end into this
  /// device's register.
  ///
  /// One segment of one size, whatever there is: what waits beyond goes with the next. A crash at any point loses nothing,
  /// and may leave events in both places, which whoever reads gives once.
  package func publish() throws(VaultError) {
    try keep()
    // Whose files nobody takes any more keeps them.
    if context.removal != nil { return context.forgetWrite() }
    let journals = try journals(checkingHeads: true)
    try context.whileThisDevice { () throws(VaultError) in
      try context.state.withLock("audit-lock") { () throws(VaultError) in
        let batches = try waiting.load(keys: context.keys).batches
        let (held, ready) = journals.parting(batches.flatMap(\.events))
        var events = ready
        let isMuch = isBacklog(events, journals)
        var end: LogEnd?
        repeat {
          end = try appendSegment(&events, by: context.device, journals)
        } while isMuch && !events.isEmpty
        if let end { try note(end) }
        if !batches.isEmpty {
          try waiting.replace(batches, by: held + events, keys: context.keys)
        }
      }
    }
    context.forgetWrite()
  }

  private func isBacklog(_ events: [AuditEvent], _ journals: Journals) -> Bool {
    let size = AuditEvents(events: events).encoded().count
    if size > Self.backlogSegmentLimit * SegmentPacking.byteCount { return true }
    let told = events.filter { journals.destination(of: $0) != .none }
    return AuditEvents(events: told).encoded().count
      > Self.backlogSegmentLimit * SegmentPacking.slotCount * SegmentPacking.slotByteCount
  }

  /// Says in this machine's state and in this device's register where its log ends. The caller holds the commit lock.
  private func note(_ end: LogEnd) throws(VaultError) {
    try context.state.store(
      end, of: context.device.id, written: context.clock.milliseconds())
    do {
      try context.changeRegister(logEnd: end)
    } catch {
      guard error.isDamage else { throw error }
      // The register is not whole, which `read` says; the log goes on without.
      return
    }
  }

  /// Writes as many of the events as a segment holds behind those of a device of this machine, and one that says nothing
  /// where none can be written: were there no segment, that would say that something else was done. The caller holds the
  /// lock.
  ///
  /// - Returns: The log's end behind them.
  func appendSegment(
    _ events: inout [AuditEvent], by device: ThisDevice, _ journals: Journals
  ) throws(VaultError) -> LogEnd {
    let (next, previous) = try end(of: device.id)
    let keys = context.keys
    let path = VaultPath.auditSegment(device.id, first: next)
    if events.isEmpty {
      events = [.sayingNothing(at: context.clock.milliseconds())]
    }
    let packing = SegmentPacking(events, journals: journals)
    let sealed = context.signedFiles.seal(
      packing.padded.encoded(), with: keys.auditKey, .audit, path, counter: next)
    let body = AuditSegmentBody(
      person: context.person, device: device.id, first: next, previous: previous,
      generation: keys.generation, sealed: sealed,
      slots: slots(packing, journals, device: device.id, first: next))
    let bytes = context.signedFiles.sign(body.encoded(), .audit, path, with: device)
    try storing(context.store.replace(BlobPath(path.string), bytes, durably: true))
    events = packing.rest
    return LogEnd(next: next + UInt64(SegmentPacking.eventLimit), newest: Digest.sha256(bytes))
  }

  /// The slots of a segment; those that hold nothing look like the others.
  private func slots(
    _ packing: SegmentPacking, _ journals: Journals, device: DeviceID, first: UInt64
  ) -> [JournalSlot] {
    let path = VaultPath.auditSegment(device, first: first).string
    let used = packing.slots.enumerated().map { position, slot in
      guard let key = journals.members[slot.member]?.key,
        let padded = AuditEvents(events: slot.events).padded(to: SegmentPacking.slotByteCount)
      else { preconditionFailure("a slot is packed for a journal, and so that it can be filled") }
      return JournalSlot(
        tag: key.tag(of: position, in: device, first: first),
        sealed: key.seal(padded.encoded(), path: path, first: first))
    }
    let unused = (used.count..<SegmentPacking.slotCount).map { _ in
      JournalSlot(
        tag: .random(), sealed: .nothing(like: SegmentPacking.slotByteCount))
    }
    return used + unused
  }

  /// What the next segment is named by, and the hash of the newest one.
  ///
  /// What this machine or the register knows to have been there counts, also where the segments are gone: the gap is to
  /// show. After a segment that cannot be read, where the log goes on, it goes on above that; `read` reports it. One that
  /// stands elsewhere was put there by somebody else, and changes nothing.
  private func end(
    of device: DeviceID
  ) throws(VaultError) -> (next: UInt64, previous: FileHash?) {
    let segments = try segments(of: device)
    let stride = UInt64(SegmentPacking.eventLimit)
    var (next, previous): (UInt64, FileHash?) = (1, nil)
    for first in segments.reversed() {
      do {
        let (body, _, hash) = try load(first, device: device)
        (next, previous) = (min(body.first, Limits.number - stride) + stride, hash)
        break
      } catch {
        guard case .damaged = error else { throw error }
      }
    }
    if let known = try knownEnd(of: device), known.next >= next {
      // What a copy of this machine has written may never come, since the copy takes it along as a device of its own.
      let isOfElsewhere = try context.state.logEnd(of: device).map { $0.next < known.next } ?? false
      if !isOfElsewhere { previous = known.newest == .zero ? nil : known.newest }
      next = known.next
    }
    for first in segments where first >= next && first - next < stride {
      (next, previous) = (first + stride, nil)
    }
    guard next <= Limits.number else {
      throw .damaged(
        path: "audit/\(device.hex)", reason: "nothing can be counted above its numbers")
    }
    return (next, previous)
  }

  /// Where the log of a device of this person ended at the latest that is known; nil where nothing says it.
  func knownEnd(of device: DeviceID) throws(VaultError) -> LogEnd? {
    guard case .end(let said) = try registeredEnd(of: device) else {
      return try context.state.logEnd(of: device)
    }
    return try knownEnd(of: device, registered: said)
  }

  /// Where the log of a device of this person ended at the latest that is known, by what this machine keeps and what the device's
  /// register says, which was read before.
  func knownEnd(of device: DeviceID, registered: LogEnd?) throws(VaultError) -> LogEnd? {
    let kept = try context.state.logEnd(of: device)
    guard let said = registered else { return kept }
    guard let kept, kept.next >= said.next else { return said }
    return kept
  }

  /// Whether a segment of this device's log is none that this machine has written, as far as it knows: its register, which
  /// was taken from a remote, names a later end than its state. A copy of the machine has gone on with the log, or the machine
  /// did before it was put back.
  package func isOfElsewhere(_ first: UInt64) throws(VaultError) -> Bool {
    guard case .end(let said?) = try registeredEnd(of: context.device.id) else { return false }
    let kept = try context.state.logEnd(of: context.device.id)?.next ?? 0
    return kept < said.next && kept <= first
  }

  /// What a device's register says of the end of its log.
  enum RegisteredEnd: Sendable {
    /// Nil: it has none yet.
    case end(LogEnd?)
    /// The register that this machine has seen is not here any more: an older one is, or none that holds.
    case rolledBack
  }

  func registeredEnd(of device: DeviceID) throws(VaultError) -> RegisteredEnd {
    try registeredEnd(of: device, person: context.person)
  }

  /// Where the register of anybody's device says that its log ends: that is not sealed.
  func registeredEnd(
    of device: DeviceID, person: PersonID
  ) throws(VaultError) -> RegisteredEnd {
    guard let certified = context.people[person]?.anyCertificate(of: device) else {
      return .end(nil)
    }
    let mark = try context.state.loadWatermarks()[.device(person, device)]
    do {
      let (body, _) = try context.signedFiles.loadRegisterBody(
        of: device, person: person, signingPublicKey: certified.certificate.signingKey.bytes)
      return body.counter < mark?.counter ?? 0 ? .rolledBack : .end(body.logEnd)
    } catch {
      guard error.isDamage else { throw error }
      return mark == nil ? .end(nil) : .rolledBack
    }
  }
}

extension StateFolder {
  private static let logEndPath: BlobPath = "log-end"
  private static let logEndTitle = "kinvault log end 1"

  /// Where this machine's own log ended when it last wrote a segment; nil where that was none, or another device's.
  func logEnd(of device: DeviceID) throws(VaultError) -> LogEnd? {
    try writtenLog(of: device)?.end
  }

  /// Where this machine's own log ended when it last wrote a segment, and when that was, in milliseconds since 1970.
  func writtenLog(of device: DeviceID) throws(VaultError) -> (end: LogEnd, time: UInt64)? {
    guard let bytes = try readIfThere(Self.logEndPath, limit: 4 << 10) else { return nil }
    let lines = ChecksummedLines(decoding: bytes, title: Self.logEndTitle)
    guard let values = lines?.values(of: "device", "next", "newest", "written"),
      values[0] == device.hex, let next = UInt64(values[1]), next <= Limits.number,
      let newest = FileHash(hex: values[2]), let time = UInt64(values[3])
    else { return nil }
    return (LogEnd(next: next, newest: newest), time)
  }

  /// On disk when it returns.
  func store(
    _ end: LogEnd, of device: DeviceID, written time: UInt64
  ) throws(VaultError) {
    let bytes = ChecksummedLines.encode(
      title: Self.logEndTitle,
      [
        "device \(device.hex)", "next \(end.next)", "newest \(end.newest.hex)", "written \(time)",
      ])
    try storing(store.replace(Self.logEndPath, bytes, durably: true))
  }
}
