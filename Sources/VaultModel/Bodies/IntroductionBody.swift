/// The body of `people/<person>/introduction`: a person answers an invitation.
package struct IntroductionBody: Hashable, WireMessage {
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

  package static let what: StaticString = "introduction"
  package static let blank = IntroductionBody(
    person: .zero, certificate: .zero, invitation: .zero, time: 0, sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &certificate, "certificate")
    try fields.id(3, &invitation, "invitation")
    try fields.time(4, &time, "time")
    try fields.message(5, &sealed)
    fields.unknown(&unknown)
  }
}

/// What someone who joins says to whoever invited them.
package struct Introduction: Hashable, WireMessage {
  /// What they call themself.
  package var name: String
  package var unknown: UnknownFields

  package init(name: String, unknown: UnknownFields = .none) {
    self.name = name
    self.unknown = unknown
  }

  package static let what: StaticString = "introduction"
  package static let blank = Introduction(name: "")

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.text(1, &name, "name")
    fields.unknown(&unknown)
  }
}
