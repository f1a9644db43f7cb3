/// The events of an audit segment; sealed in its `AuditSegmentBody`.
package struct AuditEvents: Hashable, Sendable {
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

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "audit events"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_AuditEvents) throws(ModelError) {
    events = try message.events.map { (event) throws(ModelError) in try AuditEvent(event) }
    unknown = message.unknown
  }

  var message: Kinvault_V1_AuditEvents {
    var message = Kinvault_V1_AuditEvents()
    message.events = events.map(\.message)
    message.unknown = unknown
    return message
  }
}

/// Something that was done to a vault on a device.
package struct AuditEvent: Hashable, Sendable {
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

  init(_ message: Kinvault_V1_AuditEvent) throws(ModelError) {
    time = try message.time.time("time")
    action = message.action
    member = try message.member.optionalID("member")
    record = try message.record.optionalID("record")
    name = try FileName(stored: message.name)
    detail = message.detail
    count = message.count
    unknown = message.unknown
  }

  var message: Kinvault_V1_AuditEvent {
    var message = Kinvault_V1_AuditEvent()
    message.time = time
    message.action = action
    message.member = member?.data ?? [].data
    message.record = record?.data ?? [].data
    message.name = name?.bytes.data ?? [].data
    message.detail = detail
    message.count = count
    message.unknown = unknown
    return message
  }
}

extension FileName {
  /// The name with these bytes; nil when there are none.
  fileprivate init?(stored bytes: some Collection<UInt8>) throws(ModelError) {
    guard !bytes.isEmpty else { return nil }
    guard let name = FileName(bytes) else {
      throw .malformed(what: "audit event", reason: "its name is not a file name")
    }
    self = name
  }
}
