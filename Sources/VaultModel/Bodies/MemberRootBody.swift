/// The body of `members/<member>/root`. The member is the SHA-256 of the signed file around it.
package struct MemberRootBody: Hashable, Sendable {
  package var creator: PersonID
  /// Of the creator's identity that signs.
  package var generation: UInt32
  /// 32 bytes, so that every member differs.
  package var random: [UInt8]
  /// Milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    creator: PersonID,
    generation: UInt32,
    random: [UInt8],
    time: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.creator = creator
    self.generation = generation
    self.random = random
    self.time = time
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "member root"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_MemberRootBody) throws(ModelError) {
    creator = try message.creator.id("creator")
    generation = try message.generation.fromOne("generation")
    random = try message.random.bytes(KeySize.secret, "random")
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_MemberRootBody {
    var message = Kinvault_V1_MemberRootBody()
    message.creator = creator.data
    message.generation = generation
    message.random = random.data
    message.time = time
    message.unknown = unknown
    return message
  }
}
