/// The body of `people/<person>/leavings/<member>/<epoch>`: a person gives up access to a member, or part of it.
package struct LeavingBody: Hashable, Sendable {
  /// Who gives it up.
  package var person: PersonID
  package var member: MemberID
  /// The epoch that was current.
  package var epoch: EpochID
  /// Of the device that signs.
  package var certificate: StatementID
  /// When the grant that is given up was given: `time` in it.
  package var grantTime: UInt64
  /// The role that is kept; nil: no access at all.
  package var keeps: Role?
  /// The device that wrote it.
  package var device: DeviceID
  /// The counter of that device's newest head of the member; 0: it has none.
  package var headCounter: UInt64
  /// Milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    member: MemberID,
    epoch: EpochID,
    certificate: StatementID,
    grantTime: UInt64,
    keeps: Role?,
    device: DeviceID,
    headCounter: UInt64,
    time: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.member = member
    self.epoch = epoch
    self.certificate = certificate
    self.grantTime = grantTime
    self.keeps = keeps
    self.device = device
    self.headCounter = headCounter
    self.time = time
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "leaving"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_LeavingBody) throws(ModelError) {
    person = try message.person.id("person")
    member = try message.member.id("member")
    epoch = EpochID(
      number: try message.epochNumber.fromOne("epoch number"),
      owner: try message.epochOwner.id("epoch owner"))
    certificate = try message.certificate.id("certificate")
    grantTime = try message.grantTime.time("grant time")
    keeps = message.keeps == .unspecified ? nil : try Role(message.keeps)
    device = try message.device.id("device")
    headCounter = message.headCounter
    guard headCounter <= Limits.number else {
      throw .malformed(what: "head counter", reason: "it is too large")
    }
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_LeavingBody {
    var message = Kinvault_V1_LeavingBody()
    message.person = person.data
    message.member = member.data
    message.epochNumber = epoch.number
    message.epochOwner = epoch.owner.data
    message.certificate = certificate.data
    message.grantTime = grantTime
    message.keeps = keeps?.message ?? .unspecified
    message.device = device.data
    message.headCounter = headCounter
    message.time = time
    message.unknown = unknown
    return message
  }
}
