/// The events of an audit segment; sealed in its `AuditSegmentBody`.
package struct AuditEvents: Hashable, WireMessage {
  /// In the order of their numbers.
  package var events: [AuditEvent]
  /// Zeros, so that the size of a segment does not tell what is in it.
  package var padding: [UInt8]
  /// So many slots of the segment hold something, the first ones.
  package var usedSlots: UInt32
  package var unknown: UnknownFields

  package init(
    events: [AuditEvent],
    padding: [UInt8] = [],
    usedSlots: UInt32 = 0,
    unknown: UnknownFields = .none
  ) {
    self.events = events
    self.padding = padding
    self.usedSlots = usedSlots
    self.unknown = unknown
  }

  /// Decodes the events, as every message is decoded. A log has a million events, and only what is called within this module is compiled for the very
  /// message: that takes a seventh less time.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(decoding: bytes, limit: Limits.signedFileBytes)
  }

  /// Decodes the events of a file that may be larger than a segment: one of this machine's own, in which events wait.
  package init(decoding bytes: [UInt8], limit: Int) throws(ModelError) {
    self = try WireReader.read(bytes, what: Self.what, limit: limit) {
      (reader) throws(ModelError) in try AuditEvents(reading: reader)
    }
  }

  package static let what: StaticString = "audit events"
  package static let blank = AuditEvents(events: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.messages(1, &events, "events")
    try fields.bytes(2, &padding, "padding", counts: 0...Limits.signedFileBytes)
    try fields.number(3, &usedSlots, "used slots")
    fields.unknown(&unknown)
  }

  /// The same events, padded with zeros so that the encoding has exactly `byteCount` bytes; nil where that cannot be.
  package func padded(to byteCount: Int) -> AuditEvents? {
    let room = byteCount - encoded().count
    return Self.paddingCount(filling: room).map {
      AuditEvents(
        events: events, padding: [UInt8](repeating: 0, count: $0), usedSlots: usedSlots)
    }
  }

  /// Whether a padding can fill so many bytes: a field of no bytes takes none, and of one byte three.
  package static func canFill(_ room: Int) -> Bool { paddingCount(filling: room) != nil }

  /// How many bytes a padding has whose field takes so many; nil where none does.
  private static func paddingCount(filling room: Int) -> Int? {
    if room == 0 { return 0 }
    for lengthSize in 1...3 {
      let count = room - 1 - lengthSize
      guard count > 0 else { return nil }
      if (1 << (7 * (lengthSize - 1)))..<(1 << (7 * lengthSize)) ~= count { return count }
    }
    return nil
  }
}

/// Something that was done to a vault on a device.
package struct AuditEvent: Hashable, WireMessage {
  /// Milliseconds since 1970.
  package var time: UInt64
  /// "unlock", "read", "write", "export", "damage", …
  package var action: String
  package var member: MemberID?
  package var record: RecordID?
  /// Of the file, where one was touched.
  package var name: FileName?
  package var detail: String
  /// The same event this many times; zero means once.
  package var count: UInt32
  /// The member, the record and the file, as they were called then; empty where none was touched.
  package var place: String
  /// What the device was called then.
  package var device: String
  /// Whom it is about, where that is somebody else.
  package var person: PersonID?
  /// What that person was called then, or the remote.
  package var about: String
  package var unknown: UnknownFields

  package init(
    time: UInt64,
    action: String,
    member: MemberID? = nil,
    record: RecordID? = nil,
    name: FileName? = nil,
    detail: String = "",
    count: UInt32 = 0,
    place: String = "",
    device: String = "",
    person: PersonID? = nil,
    about: String = "",
    unknown: UnknownFields = .none
  ) {
    self.time = time
    self.action = action
    self.member = member
    self.record = record
    self.name = name
    self.detail = detail
    self.count = count
    self.place = place
    self.device = device
    self.person = person
    self.about = about
    self.unknown = unknown
  }

  package static let what: StaticString = "audit event"
  package static let blank = AuditEvent(time: 0, action: "")

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.time(1, &time, "time")
    try fields.text(2, &action, "action")
    try fields.id(3, &member, "member")
    try fields.id(4, &record, "record")
    try fields.fileName(5, &name, "name")
    try fields.text(6, &detail, "detail")
    try fields.number(7, &count, "count")
    try fields.text(8, &place, "place")
    try fields.text(9, &device, "device")
    try fields.id(10, &person, "person")
    try fields.text(11, &about, "about")
    fields.unknown(&unknown)
  }
}
