/// An invitation as its giver's devices remember it.
package struct OpenInvitation: Hashable, WireMessage {
  package static let secretByteCount = 16

  package var id: InvitationID
  /// Nil once the invitation was withdrawn. It is good for one person, and kept after that: another one who knows it shows
  /// that it was no secret.
  package var secret: [UInt8]?
  /// Milliseconds since 1970.
  package var created: UInt64
  /// Milliseconds since 1970; an answer that is seen later does not count.
  package var until: UInt64
  /// Who was taken for the one that was invited.
  package var answeredBy: PersonID?
  /// Of the last change, in milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    id: InvitationID,
    secret: [UInt8]?,
    created: UInt64,
    until: UInt64,
    answeredBy: PersonID? = nil,
    time: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.id = id
    self.secret = secret
    self.created = created
    self.until = until
    self.answeredBy = answeredBy
    self.time = time
    self.unknown = unknown
  }

  package static let what: StaticString = "invitation"
  package static let blank = OpenInvitation(id: .zero, secret: nil, created: 0, until: 0, time: 0)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &id, "invitation")
    try fields.bytes(2, &secret, "secret of an invitation", exactly: Self.secretByteCount)
    try fields.time(3, &created, "creation")
    try fields.time(4, &until, "until")
    try fields.id(5, &answeredBy, "who answered an invitation")
    try fields.time(6, &time, "time")
    fields.unknown(&unknown)
  }
}
