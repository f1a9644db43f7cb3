import VaultCrypto
import VaultModel

/// Into the journals of which members events go, and of which kinds: Docs/Format.md, section 13, "Journals".
///
/// A value, so that whoever packs events asks for no lock.
struct Journals: Sendable {
  /// A member that this person can open now.
  struct Journal: Sendable {
    /// Of the epoch in use.
    let key: JournalKey
    /// Nothing is sealed under that epoch any more.
    let isSpent: Bool
    /// From when on openings of files are noted in it; nil: they are not.
    var readsSince: UInt64?
    /// Others have access to it.
    var isShared = false
  }

  enum Destination: Equatable {
    /// It stands in this person's log alone.
    case none
    /// It cannot be sealed now.
    case waits
    case journal(MemberID)
  }

  var members: [MemberID: Journal] = [:]

  func destination(of event: AuditEvent) -> Destination {
    guard let id = event.member, let journal = members[id],
      let action = AuditAction(rawValue: event.action), isTold(action, at: event.time, journal)
    else { return .none }
    return journal.isSpent ? .waits : .journal(id)
  }

  /// The events that cannot be sealed now, and the others.
  func parting(_ events: [AuditEvent]) -> (held: [AuditEvent], ready: [AuditEvent]) {
    (
      events.filter { destination(of: $0) == .waits },
      events.filter { destination(of: $0) != .waits }
    )
  }

  private func isTold(_ action: AuditAction, at time: UInt64, _ journal: Journal) -> Bool {
    guard action == .read else { return action.isOfJournals }
    return journal.readsSince.map { time >= $0 } ?? false
  }
}

/// Which of the events that wait go into the next segment, and which of them into which slot. Pure.
struct SegmentPacking {
  /// How long what is sealed in a segment is, whatever it holds.
  static let byteCount = 8192
  /// A segment has no more events. So many numbers lie between two segments, however many events they have: their names
  /// are for everyone to see.
  static let eventLimit = 1024
  /// A segment has so many slots, whatever is in them.
  static let slotCount = 4
  /// How long what is sealed in a slot is.
  static let slotByteCount = 1024

  struct Slot {
    let member: MemberID
    var events: [AuditEvent]
    var byteCount: Int
  }

  /// What the segment holds; empty if nothing can be sealed now.
  private(set) var events: [AuditEvent] = []
  private(set) var slots: [Slot] = []
  /// What waits for another segment.
  private(set) var rest: [AuditEvent] = []

  init(_ waiting: some Sequence<AuditEvent>, journals: Journals) {
    var size = 0
    var isFull = false
    for event in waiting {
      let next = AuditEvents(events: [event]).encoded().count
      let destination = journals.destination(of: event)
      var isTold = false
      if case .journal = destination { isTold = true }
      // The field that says how many slots are used.
      let field = slots.isEmpty && !isTold ? 0 : 2
      if isFull || events.count == Self.eventLimit
        || !events.isEmpty && !AuditEvents.canFill(Self.byteCount - size - next - field)
      {
        isFull = true
        rest.append(event)
        continue
      }
      if case .journal(let member) = destination, !addToSlot(event, of: member) {
        isFull = true
        rest.append(event)
        continue
      }
      events.append(event)
      size += next
    }
  }

  /// What the segment's person reads of it.
  ///
  /// - Returns: Padded, but for a single event that is longer than a segment.
  var padded: AuditEvents {
    let held = AuditEvents(events: events, usedSlots: UInt32(slots.count))
    return held.padded(to: Self.byteCount) ?? held
  }

  private mutating func addToSlot(_ event: AuditEvent, of member: MemberID) -> Bool {
    for position in slots.indices where slots[position].member == member {
      let room = Self.slotByteCount - slots[position].byteCount
      if let told = Self.told(event, in: room, mayShorten: false) {
        slots[position].events.append(told.event)
        slots[position].byteCount += told.byteCount
        return true
      }
    }
    guard slots.count < Self.slotCount else { return false }
    guard let told = Self.told(event, in: Self.slotByteCount, mayShorten: true) else {
      preconditionFailure("an event without texts has room in a slot")
    }
    slots.append(Slot(member: member, events: [told.event], byteCount: told.byteCount))
    return true
  }

  /// What others are told of an event, if it has room: the slot says of which member it is.
  private static func told(
    _ event: AuditEvent, in room: Int, mayShorten: Bool
  ) -> (event: AuditEvent, byteCount: Int)? {
    var told = AuditEvent(
      time: event.time, action: event.action, record: event.record, name: event.name,
      detail: event.detail, count: event.count, place: event.place, device: event.device)
    let shortenings: [(inout AuditEvent) -> Void] = [
      { _ in }, { $0.detail = "" }, { $0.place = "" }, { $0.device = "" },
    ]
    for shorten in shortenings.prefix(mayShorten ? shortenings.count : 1) {
      shorten(&told)
      let size = AuditEvents(events: [told]).encoded().count
      if AuditEvents.canFill(room - size) { return (told, size) }
    }
    return nil
  }
}
