/// The body of `members/<member>/grants/<epoch>/<person>`: a person gets the key of an epoch.
package struct GrantBody: Hashable, Sendable {
  package var member: MemberID
  /// Its number is from 1.
  package var epoch: EpochID
  /// Who is given access.
  package var person: PersonID
  /// The closing that opened the generation which the key is wrapped for.
  package var personGeneration: StatementID
  package var giver: PersonID
  /// The closing that opened the generation whose key wraps.
  package var giverGeneration: StatementID
  /// Of the giver's device, which signs.
  package var certificate: StatementID
  package var role: Role
  /// The key of this epoch.
  package var wrappedKey: [UInt8]
  /// Milliseconds since 1970.
  package var time: UInt64
  /// Milliseconds since 1970; zero: no end.
  package var until: UInt64
  /// The epochs that this one follows; only in an epoch's first grant, and empty in that of a member's first epoch.
  package var follows: [EpochID]
  /// People with access in one of the epochs that this one follows who have none in it; only in an epoch's first grant.
  package var without: [PersonID]
  package var unknown: UnknownFields

  package init(
    member: MemberID,
    epoch: EpochID,
    person: PersonID,
    personGeneration: StatementID,
    giver: PersonID,
    giverGeneration: StatementID,
    certificate: StatementID,
    role: Role,
    wrappedKey: [UInt8],
    time: UInt64,
    until: UInt64 = 0,
    follows: [EpochID] = [],
    without: [PersonID] = [],
    unknown: UnknownFields = .none
  ) {
    self.member = member
    self.epoch = epoch
    self.person = person
    self.personGeneration = personGeneration
    self.giver = giver
    self.giverGeneration = giverGeneration
    self.certificate = certificate
    self.role = role
    self.wrappedKey = wrappedKey
    self.time = time
    self.until = until
    self.follows = follows
    self.without = without
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "grant"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_GrantBody) throws(ModelError) {
    member = try message.member.id("member")
    epoch = EpochID(
      number: try message.epochNumber.fromOne("epoch number"),
      owner: try message.epochOwner.id("epoch owner"))
    person = try message.person.id("person")
    personGeneration = try message.personGeneration.id("person generation")
    giver = try message.giver.id("giver")
    giverGeneration = try message.giverGeneration.id("giver generation")
    certificate = try message.certificate.id("certificate")
    role = try Role(message.role)
    wrappedKey = try message.wrappedKey.bytes(KeySize.wrappedKey, "wrapped key")
    time = try message.time.time("time")
    until = try message.until.time("until")
    follows = try message.follows.map { (epoch) throws(ModelError) in
      EpochID(
        number: try epoch.number.fromOne("epoch number"), owner: try epoch.owner.id("epoch owner"))
    }
    without = try message.without.map { (person) throws(ModelError) in try person.id("person") }
    unknown = message.unknown
  }

  var message: Kinvault_V1_GrantBody {
    var message = Kinvault_V1_GrantBody()
    message.member = member.data
    message.epochNumber = epoch.number
    message.epochOwner = epoch.owner.data
    message.person = person.data
    message.personGeneration = personGeneration.data
    message.giver = giver.data
    message.giverGeneration = giverGeneration.data
    message.certificate = certificate.data
    message.role = role.message
    message.wrappedKey = wrappedKey.data
    message.time = time
    message.until = until
    message.follows = follows.map { epoch in
      var message = Kinvault_V1_Epoch()
      message.number = epoch.number
      message.owner = epoch.owner.data
      return message
    }
    message.without = without.map(\.data)
    message.unknown = unknown
    return message
  }
}
