import VaultModel

/// What a device's head of a member says in the open: `members/<member>/heads/<device>`.
package struct HeadFile: Hashable, Sendable {
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

  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(body, what: "head", limit: StatementLimits.headBytes) {
      reader throws(ModelError) in try HeadFile(from: &reader)
    }
  }

  private init(from reader: inout WireReader) throws(ModelError) {
    var ids: (member: MemberID?, person: PersonID?, device: DeviceID?)
    var certificate: StatementID?
    var epoch: StatementID?
    var head = HeadFile(
      member: .zero, person: .zero, certificate: .zero, device: .zero, counter: 0, epoch: .zero)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): ids.member = try reader.id("member")
      case .bytes(2): ids.person = try reader.id("person")
      case .bytes(3): certificate = try reader.id("certificate")
      case .bytes(4): ids.device = try reader.id("device")
      case .varint(5): head.counter = try reader.number()
      case .bytes(6): head.previous = try reader.id("previous")
      case .bytes(7): epoch = try reader.id("epoch")
      case .bytes(8):
        try reader.appendAscending(to: &head.follows, limit: StatementLimits.linkFollows, "follows")
      case .bytes(9): head.sealed = try reader.byteArray()
      case .bytes(10): head.generation = try reader.id("generation")
      case .bytes(11): head.keyID = try reader.id("key id")
      default: _ = try reader.skip(tag)
      }
    }
    head.member = try reader.required(ids.member, "member")
    head.person = try reader.required(ids.person, "person")
    head.certificate = try reader.required(certificate, "certificate")
    head.device = try reader.required(ids.device, "device")
    head.epoch = try reader.required(epoch, "epoch")
    guard head.counter > 0 else { throw reader.malformed("the counter is zero") }
    self = head
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, member)
    writer.id(2, person)
    writer.id(3, certificate)
    writer.id(4, device)
    writer.varint(5, counter)
    writer.id(6, previous)
    writer.id(7, epoch)
    for id in follows { writer.elementID(8, id) }
    writer.bytes(9, sealed)
    writer.id(10, generation)
    writer.id(11, keyID)
    return writer.bytes
  }
}
