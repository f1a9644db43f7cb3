/// The body of `audit/<device>/<first>`.
package struct AuditSegmentBody: Hashable, WireMessage {
  package var person: PersonID
  package var device: DeviceID
  /// What it is named by: its events are numbered from here on, and so may be no more than up to the next one's.
  package var first: UInt64
  /// The SHA-256 of the segment file before; nil in the first.
  package var previous: FileHash?
  /// The closing that opened the generation of the master key whose audit key seals `sealed`.
  package var generation: StatementID
  /// `AuditEvents`.
  package var sealed: Sealed
  /// What others may read of it, and as many that hold nothing as make them four.
  package var slots: [JournalSlot]
  /// Of one that stands in the place of several: these, ascending.
  package var replaces: [ReplacedSegment]
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    device: DeviceID,
    first: UInt64,
    previous: FileHash? = nil,
    generation: StatementID,
    sealed: Sealed,
    slots: [JournalSlot] = [],
    replaces: [ReplacedSegment] = [],
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.device = device
    self.first = first
    self.previous = previous
    self.generation = generation
    self.sealed = sealed
    self.slots = slots
    self.replaces = replaces
    self.unknown = unknown
  }

  package static let what: StaticString = "audit segment"
  package static let blank = AuditSegmentBody(
    person: .zero, device: .zero, first: 0, generation: .zero, sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &device, "device")
    try fields.ordinal(3, &first, "first event")
    try fields.id(4, &previous, "previous")
    try fields.id(5, &generation, "generation")
    try fields.message(6, &sealed)
    try fields.messages(7, &slots, "slots", limit: Limits.segmentSlots)
    try fields.messages(8, &replaces, "replaced segments", limit: Limits.replacedSegments)
    fields.unknown(&unknown)
  }
}

/// A part of some member's journal, or nothing: only who has the journal's key can tell.
package struct JournalSlot: Hashable, WireMessage {
  /// By which a reader finds the slots of a member.
  package var tag: JournalTag
  /// `AuditEvents`.
  package var sealed: Sealed
  /// The number of the segment in which it stood first; 0: of the one in which it stands.
  package var first: UInt64
  /// Its position there; nothing where it stands there still.
  package var position: UInt32
  package var unknown: UnknownFields

  package init(
    tag: JournalTag, sealed: Sealed, first: UInt64 = 0, position: UInt32 = 0,
    unknown: UnknownFields = .none
  ) {
    self.tag = tag
    self.sealed = sealed
    self.first = first
    self.position = position
    self.unknown = unknown
  }

  package static let what: StaticString = "journal slot"
  package static let blank = JournalSlot(tag: .zero, sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &tag, "tag")
    try fields.message(2, &sealed)
    try fields.count(3, &first, "first")
    try fields.number(4, &position, "position")
    fields.unknown(&unknown)
  }
}

/// A segment in whose place another one stands.
package struct ReplacedSegment: Hashable, WireMessage {
  package var first: UInt64
  /// Of its file.
  package var hash: FileHash

  package init(first: UInt64, hash: FileHash) { (self.first, self.hash) = (first, hash) }

  package static let what: StaticString = "replaced segment"
  package static let blank = ReplacedSegment(first: 0, hash: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.ordinal(1, &first, "first event")
    try fields.id(2, &hash, "hash")
  }
}
