import VaultModel

/// What a device's head of a member says in the open: `members/<member>/heads/<device>`.
package struct HeadFile: Hashable, WireMessage {
  package var member: MemberID
  package var person: PersonID
  package var certificate: StatementID
  package var device: DeviceID
  package var counter: UInt64
  package var previous: FileHash?
  /// The link that began the epoch whose key seals it.
  package var epoch: StatementID
  /// The links that its writer knew of besides the epoch's, less those that these follow.
  package var follows: [StatementID]
  package var sealed: [UInt8]
  /// The newest closing that its writer knew of their own person: a hint at what may be missing here. Nil for the one that
  /// the certificate names.
  package var generation: StatementID?
  /// Which key seals it, for those who have none: a hint at which objects are in use.
  package var keyID: KeyID?

  package init(
    member: MemberID, person: PersonID, certificate: StatementID, device: DeviceID,
    counter: UInt64 = 1, previous: FileHash? = nil, epoch: StatementID,
    follows: [StatementID] = [], sealed: [UInt8] = [], generation: StatementID? = nil,
    keyID: KeyID? = nil
  ) {
    self.member = member
    self.person = person
    self.certificate = certificate
    self.device = device
    self.counter = counter
    self.previous = previous
    self.epoch = epoch
    self.follows = follows.sorted()
    self.sealed = sealed
    self.generation = generation
    self.keyID = keyID
  }

  package static let what: StaticString = "head"
  package static let byteLimit = StatementLimits.headBytes
  package static let blank = HeadFile(
    member: .zero, person: .zero, certificate: .zero, device: .zero, counter: 0, epoch: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &member, "member")
    try fields.id(2, &person, "person")
    try fields.id(3, &certificate, "certificate")
    try fields.id(4, &device, "device")
    try fields.ordinal(5, &counter, "counter")
    try fields.idIfThere(6, &previous, "previous")
    try fields.id(7, &epoch, "epoch")
    try fields.ids(
      8, &follows, "follows", limit: StatementLimits.linkFollows, isAscending: true)
    try fields.bytes(9, &sealed, "sealed", counts: 0...StatementLimits.headBytes)
    try fields.idIfThere(10, &generation, "generation")
    try fields.idIfThere(11, &keyID, "key id")
  }
}
