import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// Every access by this device, sealed for its person. Docs/Format.md, "Audit".
///
/// Events are gathered in memory and kept in this machine's state by `flush`; a crash loses those since the last one. They
/// become a segment of the vault only when this device has written something else there, so that nothing in the folder
/// or on a remote tells when somebody has read. Safe to use from any thread.
package final class AuditLog: Sendable {
  private struct Pending: Sendable {
    var events: [AuditEvent] = []
    /// Where in `events` something of this kind stands.
    var known: [Kind: Int] = [:]
    var since: UInt64 = 0
    /// When it is next looked whether a day is over.
    var nextDay: UInt64 = 0
  }

  /// Events of one kind are counted, not repeated.
  private struct Kind: Hashable {
    var action: AuditAction
    var member: MemberID?
    var record: RecordID?
    /// Not of reads, of which one is told for each record.
    var name: FileName?
    var person: PersonID?
    var detail: String
  }

  /// What waits in memory is kept when it is so many events.
  static let pendingEventLimit = 1024
  /// `flushIfDue` keeps what waits when the oldest event waits this long, and publishes this long after a write.
  static let flushIntervalMilliseconds: UInt64 = 60_000

  let context: VaultContext
  private let pending = Guarded(Pending())
  /// Gives an event the names that its ids have now.
  private let naming = Guarded<(@Sendable (inout AuditEvent) -> Void)?>(nil)

  init(context: VaultContext) { self.context = context }

  func nameEvents(with naming: @escaping @Sendable (inout AuditEvent) -> Void) {
    self.naming.withLock { $0 = naming }
  }

  var waiting: WaitingEvents { WaitingEvents(state: context.state, binding: context.binding) }

  /// Notes an event; costs no I/O. Equal events are counted, not repeated, and so are reads of one record, until they are
  /// kept.
  ///
  /// - Parameter person: Whom it is about, where that is somebody else.
  package func note(
    _ action: AuditAction, member: MemberID? = nil, record: RecordID? = nil,
    name: FileName? = nil, person: PersonID? = nil, detail: String = ""
  ) {
    guard !context.isReadOnly else { return }
    let now = context.clock.milliseconds()
    let kind = Kind(
      action: action, member: member, record: record, name: action == .read ? nil : name,
      person: person, detail: detail)
    pending.withLock { pending in
      if let position = pending.known[kind] {
        if pending.events[position].name != name { pending.events[position].name = nil }
        if pending.events[position].count < .max { pending.events[position].count += 1 }
        return
      }
      if pending.events.isEmpty { pending.since = now }
      pending.known[kind] = pending.events.count
      pending.events.append(
        AuditEvent(
          time: now, action: action.rawValue, member: member, record: record, name: name,
          detail: detail, count: 1, person: person))
    }
  }

  /// Keeps what waits if there is much of it or it has waited long, and publishes if a write was that long ago.
  package func flushIfDue() throws(VaultError) {
    let now = context.clock.milliseconds()
    let isDue = pending.withLock { pending in
      pending.events.count >= Self.pendingEventLimit
        || !pending.events.isEmpty && now >= pending.since + Self.flushIntervalMilliseconds
    }
    // When it is published says when something was written, and nothing of what was read before.
    let isPublished = context.writtenSince.map { now >= $0 + Self.flushIntervalMilliseconds }
    let isDaily = try isDailyDue(now)
    if isPublished == true || isDaily { try publish() } else if isDue { try keep() }
  }

  /// Whether a segment is due that follows no head: who only reads may never write one, and others are to read what they did
  /// with a member that is shared. It is due once a day, whatever there is to tell.
  private func isDailyDue(_ now: UInt64) throws(VaultError) -> Bool {
    guard !context.isReadOnly, context.removal == nil,
      pending.withLock({ now >= $0.nextDay })
    else { return false }
    let journals = context.openJournals.withLock({ $0 })?() ?? Journals()
    guard journals.members.values.contains(where: \.isShared) else { return false }
    let last = try context.state.writtenLog(of: context.device.id)?.time ?? 0
    let next = last + CivilTime.dayMilliseconds
    let isDue = now >= next || now < last
    pending.withLock { $0.nextDay = isDue ? now + Self.flushIntervalMilliseconds : next }
    return isDue
  }

  /// Keeps what waits, and publishes it if this process has written something into the vault. On failure it keeps
  /// waiting.
  package func flush() throws(VaultError) {
    let isDaily = try isDailyDue(context.clock.milliseconds())
    if context.writtenSince != nil || isDaily { try publish() } else { try keep() }
  }

  /// The events with the names that their ids have now.
  func named(_ events: [AuditEvent]) -> [AuditEvent] {
    guard let naming = naming.withLock({ $0 }) else { return events }
    return events.map { event in
      var event = event
      naming(&event)
      return event
    }
  }

  /// Puts what waits in memory into this machine's state; on disk when it returns.
  package func keep() throws(VaultError) {
    var events = pending.withLock { pending in
      defer { pending = Pending(nextDay: pending.nextDay) }
      return pending.events
    }
    guard !events.isEmpty else { return }
    events = named(events)
    do {
      try context.state.withLock("audit-lock") { () throws(VaultError) in
        try waiting.keep(events, keys: context.keys)
      }
    } catch {
      pending.withLock { pending in
        // What was noted meanwhile stands behind, and is not counted together with it.
        if pending.events.isEmpty { pending.since = events[0].time }
        pending.events.insert(contentsOf: events, at: 0)
        pending.known = [:]
      }
      throw error
    }
  }
}
