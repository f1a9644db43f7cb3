/// The events of an audit segment; sealed in its `AuditSegmentBody`.
package struct AuditEvents: Hashable, WireMessage {
  /// In the order of their numbers.
  package var events: [AuditEvent]
  package var unknown: UnknownFields

  package init(
    events: [AuditEvent],
    unknown: UnknownFields = .none
  ) {
    self.events = events
    self.unknown = unknown
  }

  package static let what: StaticString = "audit events"
  package static let blank = AuditEvents(events: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.messages(1, &events, "events")
    fields.unknown(&unknown)
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
  /// The same event this many times in a row; zero means once.
  package var count: UInt32
  package var unknown: UnknownFields

  package init(
    time: UInt64,
    action: String,
    member: MemberID? = nil,
    record: RecordID? = nil,
    name: FileName? = nil,
    detail: String = "",
    count: UInt32 = 0,
    unknown: UnknownFields = .none
  ) {
    self.time = time
    self.action = action
    self.member = member
    self.record = record
    self.name = name
    self.detail = detail
    self.count = count
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
    fields.unknown(&unknown)
  }
}
