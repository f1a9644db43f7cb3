/// The body of `people/<person>/devices/<device>`.
package struct DeviceBody: Hashable, Sendable {
  package var person: PersonID
  package var device: DeviceID
  /// From 1; only grows.
  package var counter: UInt64
  /// The SHA-256 of the file that this one replaced; nil in the first.
  package var previous: FileHash?
  /// The closing that opened the generation of the master key whose profile key seals `sealed`.
  package var generation: StatementID
  /// A `DeviceProfile`.
  package var sealed: Sealed
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    device: DeviceID,
    counter: UInt64,
    previous: FileHash? = nil,
    generation: StatementID,
    sealed: Sealed,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.device = device
    self.counter = counter
    self.previous = previous
    self.generation = generation
    self.sealed = sealed
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "device register"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_DeviceBody) throws(ModelError) {
    person = try message.person.id("person")
    device = try message.device.id("device")
    counter = try message.counter.fromOne("counter")
    previous = try message.previous.optionalID("previous")
    generation = try message.generation.id("generation")
    sealed = try Sealed(message.sealed)
    unknown = message.unknown
  }

  var message: Kinvault_V1_DeviceBody {
    var message = Kinvault_V1_DeviceBody()
    message.person = person.data
    message.device = device.data
    message.counter = counter
    message.previous = previous?.data ?? [].data
    message.generation = generation.data
    message.sealed = sealed.message
    message.unknown = unknown
    return message
  }
}
