/// The body of `people/<person>/introduction`: a person answers an invitation.
package struct IntroductionBody: Hashable, Sendable {
  package var person: PersonID
  /// Of the device that signs.
  package var certificate: StatementID
  /// The invitation that is answered.
  package var invitation: InvitationID
  /// Milliseconds since 1970.
  package var time: UInt64
  /// An `Introduction`, under the key that the invitation's secret gives.
  package var sealed: Sealed
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    certificate: StatementID,
    invitation: InvitationID,
    time: UInt64,
    sealed: Sealed,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.certificate = certificate
    self.invitation = invitation
    self.time = time
    self.sealed = sealed
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "introduction"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_IntroductionBody) throws(ModelError) {
    person = try message.person.id("person")
    certificate = try message.certificate.id("certificate")
    invitation = try message.invitation.id("invitation")
    time = try message.time.time("time")
    sealed = try Sealed(message.sealed)
    unknown = message.unknown
  }

  var message: Kinvault_V1_IntroductionBody {
    var message = Kinvault_V1_IntroductionBody()
    message.person = person.data
    message.certificate = certificate.data
    message.invitation = invitation.data
    message.time = time
    message.sealed = sealed.message
    message.unknown = unknown
    return message
  }
}

/// What someone who joins says to whoever invited them.
package struct Introduction: Hashable, Sendable {
  /// What they call themself.
  package var name: String
  package var unknown: UnknownFields

  package init(name: String, unknown: UnknownFields = .none) {
    self.name = name
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    let message: Kinvault_V1_Introduction = try .decode(bytes, what: "introduction")
    name = message.name
    unknown = message.unknown
  }

  package func encoded() -> [UInt8] {
    var message = Kinvault_V1_Introduction()
    message.name = name
    message.unknown = unknown
    return message.canonicalBytes
  }
}
