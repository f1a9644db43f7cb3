import VaultModel

/// A member begins, and its creator has the first place: `members/<member>/root`.
package struct MemberRoot: Hashable, Sendable {
  package var person: PersonID
  package var certificate: StatementID
  /// Makes every member another one.
  package var random: FileHash
  package var time: UInt64
  /// The member that this one takes the place of, whose senior owner was lost.
  package var renews: MemberID?

  package init(
    person: PersonID, certificate: StatementID, random: FileHash, time: UInt64 = 0,
    renews: MemberID? = nil
  ) {
    self.person = person
    self.certificate = certificate
    self.random = random
    self.time = time
    self.renews = renews
  }

  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(body, what: "member root", limit: StatementLimits.rootBytes) {
      reader throws(ModelError) in
      var person: PersonID?
      var certificate: StatementID?
      var random: FileHash?
      var time: UInt64 = 0
      var renews: MemberID?
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1): person = try reader.id("person")
        case .bytes(2): certificate = try reader.id("certificate")
        case .bytes(3): random = try reader.id("random")
        case .varint(4): time = try reader.time()
        case .bytes(5): renews = try reader.id("renewed member")
        default: _ = try reader.skip(tag)
        }
      }
      return MemberRoot(
        person: try reader.required(person, "person"),
        certificate: try reader.required(certificate, "certificate"),
        random: try reader.required(random, "random"), time: time, renews: renews)
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, person)
    writer.id(2, certificate)
    writer.id(3, random)
    writer.varint(4, time)
    writer.id(5, renews)
    return writer.bytes
  }
}
