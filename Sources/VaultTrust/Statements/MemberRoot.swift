import VaultModel

/// A member begins, and its creator has the first place: `members/<member>/root`.
package struct MemberRoot: Hashable, WireMessage {
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

  package static let what: StaticString = "member root"
  package static let byteLimit = StatementLimits.rootBytes
  package static let blank = MemberRoot(person: .zero, certificate: .zero, random: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &certificate, "certificate")
    try fields.id(3, &random, "random")
    try fields.time(4, &time, "time")
    try fields.idIfThere(5, &renews, "renewed member")
  }
}
