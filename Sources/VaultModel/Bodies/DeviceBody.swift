/// The body of `people/<person>/devices/<device>`.
package struct DeviceBody: Hashable, WireMessage {
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

  package static let what: StaticString = "device register"
  package static let blank = DeviceBody(
    person: .zero, device: .zero, counter: 0, generation: .zero, sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &device, "device")
    try fields.ordinal(3, &counter, "counter")
    try fields.id(4, &previous, "previous")
    try fields.id(5, &generation, "generation")
    try fields.message(6, &sealed)
    fields.unknown(&unknown)
  }
}
