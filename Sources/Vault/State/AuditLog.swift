import BlobStore
import Threads
import VaultCrypto
import VaultModel

/// What the audit log distinguishes; the text stands in the log.
package enum AuditAction: String, Sendable, CaseIterable {
  case unlock
  case mount
  case unmount
  case read
  case write
  case create
  case delete
  case export
  case restore
  case damage
  /// Something that was changed could not be saved.
  case unsaved
  case collect
  case repair
  case password
  case recovery
  /// Someone was invited, verified, or given access.
  case share
  /// Access was taken away: a new epoch was begun.
  case revoke
  /// This machine was put back to an earlier state, or copied, and goes on as a device of its own.
  case part
}

/// Every access by this device, sealed for its person. Docs/Format.md, "Audit".
///
/// Events are gathered in memory and written as segments by `flush`; a crash loses those since the
/// last one. Safe to use from any thread.
package final class AuditLog: Sendable {
  private struct Pending: Sendable {
    var events: [AuditEvent] = []
    var since: UInt64 = 0
  }

  /// A segment is written when this many events wait.
  static let segmentEventLimit = 1024
  /// `flushIfDue` writes when the oldest event waits this long.
  static let flushIntervalMilliseconds: UInt64 = 60_000

  let context: VaultContext
  private let pending = Guarded(Pending())

  init(context: VaultContext) { self.context = context }

  /// Notes an event; costs no I/O. Equal events in a row are counted, not repeated.
  package func note(
    _ action: AuditAction, member: MemberID? = nil, record: RecordID? = nil,
    name: FileName? = nil, detail: String = ""
  ) {
    guard !context.isReadOnly else { return }
    let now = context.clock.milliseconds()
    pending.withLock { pending in
      if pending.events.isEmpty { pending.since = now }
      if let last = pending.events.last, last.action == action.rawValue, last.member == member,
        last.record == record, last.name == name, last.detail == detail
      {
        pending.events[pending.events.count - 1].count += 1
        return
      }
      pending.events.append(
        AuditEvent(
          time: now, action: action.rawValue, member: member, record: record, name: name,
          detail: detail, count: 1))
    }
  }

  /// Writes what waits if there is much of it or it has waited long.
  package func flushIfDue() throws(VaultError) {
    let now = context.clock.milliseconds()
    let isDue = pending.withLock { pending in
      pending.events.count >= Self.segmentEventLimit
        || !pending.events.isEmpty && now >= pending.since + Self.flushIntervalMilliseconds
    }
    if isDue { try flush() }
  }

  /// Writes what waits as segments. On failure it keeps waiting.
  package func flush() throws(VaultError) {
    let events = pending.withLock { pending in
      let events = pending.events
      pending.events = []
      return events
    }
    guard !events.isEmpty else { return }
    do throws(VaultError) {
      try context.state.withLock("audit-lock") { () throws(VaultError) in
        try append(events, by: context.device)
      }
    } catch {
      pending.withLock { $0.events.insert(contentsOf: events, at: 0) }
      throw error
    }
  }

  /// Writes the events behind those of a device of this machine. The caller holds the lock.
  func append(_ events: [AuditEvent], by device: ThisDevice) throws(VaultError) {
    var (next, previous) = try end(of: device.id)
    let keys = context.keys
    for start in stride(from: 0, to: events.count, by: Self.segmentEventLimit) {
      let part = Array(events[start..<min(start + Self.segmentEventLimit, events.count)])
      let path = VaultPath.auditSegment(device.id, first: next)
      let sealed = context.signedFiles.seal(
        AuditEvents(events: part).encoded(), with: keys.auditKey, .audit, path, counter: next)
      let body = AuditSegmentBody(
        person: context.person, device: device.id, first: next, previous: previous,
        generation: keys.generation, sealed: sealed)
      let bytes = context.signedFiles.sign(body.encoded(), .audit, path, with: device)
      try storing { () throws(BlobStoreError) in
        try context.store.replace(BlobPath(path.string), bytes, durably: true)
      }
      next += UInt64(part.count)
      previous = Digest.sha256(bytes)
    }
  }

  /// The number of the next event, and the hash of the newest segment.
  ///
  /// After a segment that cannot be read the log goes on above every number it can have held; `read` reports both. One
  /// that stands elsewhere than where the log goes on was put there by somebody else, and changes nothing.
  private func end(
    of device: DeviceID
  ) throws(VaultError) -> (next: UInt64, previous: FileHash?) {
    let segments = try segments(of: device)
    var (next, previous): (UInt64, FileHash?) = (1, nil)
    for first in segments.reversed() {
      do throws(VaultError) {
        let (body, events, hash) = try load(first, device: device)
        (next, previous) = (body.first + UInt64(events.count), hash)
        break
      } catch {
        guard case .damaged = error else { throw error }
      }
    }
    let longest = UInt64(Self.segmentEventLimit)
    for first in segments where first >= next && first - next < longest {
      (next, previous) = (first + longest, nil)
    }
    return (next, previous)
  }

  // MARK: Reading

  /// The first numbers of a device's segments, in order.
  func segments(of device: DeviceID) throws(VaultError) -> [UInt64] {
    let folder = BlobPath("audit/\(device.hex)")
    let entries = try storing { () throws(BlobStoreError) in try context.store.list(folder) }
    var result: [UInt64] = []
    for entry in entries {
      let path = folder.appending(entry.name).string
      if case .auditSegment(_, let first) = VaultPath(parsing: path) { result.append(first) }
    }
    return result.sorted()
  }

  func load(
    _ first: UInt64, device: DeviceID
  ) throws(VaultError) -> (AuditSegmentBody, [AuditEvent], FileHash) {
    let path = VaultPath.auditSegment(device, first: first)
    let (body, hash) = try AuditSegmentBody.load(
      device, first: first, files: context.signedFiles, people: context.people)
    guard let key = context.keys.auditKey(generation: body.generation) else {
      throw .damaged(path: path.string, reason: "it is sealed with an unknown key")
    }
    let plain = try context.signedFiles.open(
      body.sealed, with: key, .audit, path, counter: first)
    do {
      return (body, try AuditEvents(decoding: plain).events, hash)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// Every event of this person's devices, oldest first, and what is wrong with the log: a segment
  /// that is missing or does not chain, named by its path. An event that stands in several logs is given once.
  package func read() throws(VaultError) -> (events: [LoggedEvent], problems: [Problem]) {
    var events: [LoggedEvent] = []
    var problems: [Problem] = []
    let person = context.people[context.person]
    let devices = [person?.devices, person?.waiting, person?.former].flatMap {
      $0.map { Array($0.keys) } ?? []
    }
    for device in devices.sorted() {
      var expected: UInt64 = 1
      var previous: FileHash?
      for first in try segments(of: device) {
        let path = VaultPath.auditSegment(device, first: first).string
        do throws(VaultError) {
          let (body, found, hash) = try load(first, device: device)
          if first != expected || body.previous != previous {
            problems.append(
              Problem(
                .missing, .warning, path: path,
                reason: "it does not follow the segment before: one was removed or exchanged"))
          }
          events += found.map { LoggedEvent(device: device, event: $0) }
          expected = first + UInt64(found.count)
          previous = hash
        } catch {
          problems.append(Problem(error, path: path))
        }
      }
    }
    var seen: Set<AuditEvent> = []
    let once = events.filter { seen.insert($0.event).inserted }
    return (once.sorted { $0.event.time < $1.event.time }, problems)
  }
}

/// An event of the audit log, and the device that wrote it.
package struct LoggedEvent: Sendable {
  package let device: DeviceID
  package let event: AuditEvent
}

extension AuditSegmentBody {
  /// A segment of a device's log, verified but not opened, and the hash of its file.
  ///
  /// - Throws: `missing`; `damaged` when it is another's, or its signature does not hold.
  @discardableResult
  static func load(
    _ device: DeviceID, first: UInt64, files: SignedFiles, people: People
  ) throws(VaultError) -> (AuditSegmentBody, FileHash) {
    let path = VaultPath.auditSegment(device, first: first)
    let file = try files.load(path)
    let body = try file.decode(AuditSegmentBody.init(decoding:))
    guard body.device == device, body.first == first else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    let known = try people.anyCertificate(of: device, person: body.person, path: path)
    try file.verify(.audit, publicKey: known.certificate.signingKey.bytes)
    return (body, file.hash)
  }
}
