/// The body of `audit/<device>/<first>`.
package struct AuditSegmentBody: Hashable, Sendable {
  package var person: PersonID
  package var device: DeviceID
  /// The number of its first event, from 1.
  package var first: UInt64
  /// The SHA-256 of the segment file before; nil in the first.
  package var previous: FileHash?
  /// The closing that opened the generation of the master key whose audit key seals `sealed`.
  package var generation: StatementID
  /// `AuditEvents`.
  package var sealed: Sealed
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    device: DeviceID,
    first: UInt64,
    previous: FileHash? = nil,
    generation: StatementID,
    sealed: Sealed,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.device = device
    self.first = first
    self.previous = previous
    self.generation = generation
    self.sealed = sealed
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "audit segment"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_AuditSegmentBody) throws(ModelError) {
    person = try message.person.id("person")
    device = try message.device.id("device")
    first = try message.first.fromOne("first event")
    previous = try message.previous.optionalID("previous")
    generation = try message.generation.id("generation")
    sealed = try Sealed(message.sealed)
    unknown = message.unknown
  }

  var message: Kinvault_V1_AuditSegmentBody {
    var message = Kinvault_V1_AuditSegmentBody()
    message.person = person.data
    message.device = device.data
    message.first = first
    message.previous = previous?.data ?? [].data
    message.generation = generation.data
    message.sealed = sealed.message
    message.unknown = unknown
    return message
  }
}
