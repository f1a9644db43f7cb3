/// An invitation as its giver's devices remember it.
package struct OpenInvitation: Hashable, Sendable {
  package static let secretByteCount = 16

  package var id: InvitationID
  /// Nil once the invitation was answered or withdrawn: it is good for one person.
  package var secret: [UInt8]?
  /// Milliseconds since 1970.
  package var created: UInt64
  /// Milliseconds since 1970; an answer that is seen later does not count.
  package var until: UInt64
  /// Who joined with it.
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

  init(_ message: Kinvault_V1_OpenInvitation) throws(ModelError) {
    id = try message.id.id("invitation")
    secret =
      message.secret.isEmpty
      ? nil : try message.secret.bytes(Self.secretByteCount, "secret of an invitation")
    created = try message.created.time("creation")
    until = try message.until.time("until")
    answeredBy = try message.answeredBy.optionalID("who answered an invitation")
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_OpenInvitation {
    var message = Kinvault_V1_OpenInvitation()
    message.id = id.data
    message.secret = (secret ?? []).data
    message.created = created
    message.until = until
    message.answeredBy = answeredBy?.data ?? [].data
    message.time = time
    message.unknown = unknown
    return message
  }
}
