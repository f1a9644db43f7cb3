/// The events of an audit segment; sealed in its `AuditSegmentBody`.
package struct AuditEvents: Hashable, WireMessage {
  /// In the order of their numbers.
  package var events: [AuditEvent]
  /// Zeros, so that the size of a segment does not tell what is in it.
  package var padding: [UInt8]
  package var unknown: UnknownFields

  package init(
    events: [AuditEvent],
    padding: [UInt8] = [],
    unknown: UnknownFields = .none
  ) {
    self.events = events
    self.padding = padding
    self.unknown = unknown
  }

  package static let what: StaticString = "audit events"
  package static let blank = AuditEvents(events: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.messages(1, &events, "events")
    try fields.bytes(2, &padding, "padding", counts: 0...Limits.signedFileBytes)
    fields.unknown(&unknown)
  }

  /// Of the first of these events as many as an encoding of exactly `byteCount` bytes has room for, padded to it.
  ///
  /// - Returns: Nil if there is room for none.
  package static func padded(
    _ events: some Sequence<AuditEvent>, to byteCount: Int, limit: Int
  ) -> AuditEvents? {
    var taken: [AuditEvent] = []
    var sizes: [Int] = []
    var size = 0
    for event in events.prefix(limit) {
      let next = AuditEvents(events: [event]).encoded().count
      // A padding of no bytes takes none, of one byte three.
      guard size + next <= byteCount else { break }
      taken.append(event)
      sizes.append(next)
      size += next
    }
    while !taken.isEmpty {
      if let padding = paddingCount(filling: byteCount - size) {
        return AuditEvents(events: taken, padding: [UInt8](repeating: 0, count: padding))
      }
      taken.removeLast()
      size -= sizes.removeLast()
    }
    return nil
  }

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
