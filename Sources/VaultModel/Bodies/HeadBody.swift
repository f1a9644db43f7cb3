/// The body of `members/<member>/heads/<device>`.
package struct HeadBody: Hashable, Sendable {
  package var member: MemberID
  package var device: DeviceID
  /// From 1; only grows.
  package var counter: UInt64
  /// The SHA-256 of the file that this one replaced; nil in the first.
  package var previous: FileHash?
  /// Whose device it is.
  package var person: PersonID
  /// That vouches for the device.
  package var certificate: StatementID
  /// The closing of the newest generation that the writer knew of its person: a hint at what may be missing here.
  package var generation: StatementID
  /// Tells which epoch's register key seals `sealed`.
  package var keyID: KeyID
  /// A `Head`.
  package var sealed: Sealed
  package var unknown: UnknownFields

  package init(
    member: MemberID,
    device: DeviceID,
    counter: UInt64,
    previous: FileHash? = nil,
    person: PersonID,
    certificate: StatementID,
    generation: StatementID,
    keyID: KeyID,
    sealed: Sealed,
    unknown: UnknownFields = .none
  ) {
    self.member = member
    self.device = device
    self.counter = counter
    self.previous = previous
    self.person = person
    self.certificate = certificate
    self.generation = generation
    self.keyID = keyID
    self.sealed = sealed
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "head register"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_HeadBody) throws(ModelError) {
    member = try message.member.id("member")
    device = try message.device.id("device")
    counter = try message.counter.fromOne("counter")
    previous = try message.previous.optionalID("previous")
    person = try message.person.id("person")
    certificate = try message.certificate.id("certificate")
    generation = try message.generation.id("generation")
    keyID = try message.keyID.id("key id")
    sealed = try Sealed(message.sealed)
    unknown = message.unknown
  }

  var message: Kinvault_V1_HeadBody {
    var message = Kinvault_V1_HeadBody()
    message.member = member.data
    message.device = device.data
    message.counter = counter
    message.previous = previous?.data ?? [].data
    message.person = person.data
    message.certificate = certificate.data
    message.generation = generation.data
    message.keyID = keyID.data
    message.sealed = sealed.message
    message.unknown = unknown
    return message
  }
}
