import VaultCrypto
import VaultModel
import VaultTrust

/// Signatures for tests, in place of Ed25519: the key, then a hash of key and message.
///
/// Nobody in a test signs with a key that is not theirs, so this is as good, and a thousand times
/// cheaper; `RealSignaturesTests` runs a world on the real ones.
struct TestKey: Hashable {
  let publicKey: VerifyingKey

  init(_ name: String) {
    publicKey = VerifyingKey(storage: Digest.sha256(Array("key \(name)".utf8)).storage)
  }

  func sign(_ message: [UInt8]) -> [UInt8] {
    publicKey.bytes + Digest.sha256(publicKey.bytes + message).bytes
  }

  static let check = SignatureCheck { message, signature, key in
    signature == key.bytes + Digest.sha256(key.bytes + message).bytes
  }
}

struct TestPerson: Hashable {
  let name: String
  let words: TestKey
  var id: PersonID { PersonID(rootPublicKey: words.publicKey.bytes) }

  init(_ name: String) {
    self.name = name
    words = TestKey("\(name)'s words")
  }
}

struct TestDevice: Hashable {
  let person: TestPerson
  let key: TestKey
  let certificate: StatementID
  let id: DeviceID
}

/// Builds the files of a vault, with the ids of what they say.
struct World {
  let vault = VaultID(storage: Bytes16(exactly: Array(repeating: 7, count: 16)))
  private(set) var files: [StatementID: StatementFile] = [:]
  private var randoms = 0

  mutating func add(_ label: SignedLabel, _ body: [UInt8], by key: TestKey) -> StatementID {
    let message = vault.signedMessage(label, body)
    let id = vault.statementID(label, body: body)
    files[id] = StatementFile(
      label, SignedFile(body: body, signature: key.sign(message)).encoded())
    return id
  }

  // MARK: People

  /// A closing; without `key` by the person's first words.
  mutating func closing(
    of person: TestPerson, follows: [StatementID] = [], stay: [TestDevice] = [],
    counted: [StatementID] = [], retracted: [StatementID] = [], by key: TestKey? = nil,
    replacing old: [TestKey] = [], time: UInt64 = 1
  ) -> StatementID {
    let key = key ?? person.words
    let endorsements = old.map { old in
      Closing.Endorsement(
        rootKey: old.publicKey,
        signature: old.sign(
          vault.signedMessage(
            .successor,
            Closing.endorsementBody(
              person: person.id, from: old.publicKey, to: key.publicKey))))
    }
    let closing = Closing(
      person: person.id, follows: follows, rootKey: key.publicKey, endorsements: endorsements,
      stay: stay.map(\.certificate), counted: counted, retracted: retracted, time: time)
    return add(.closing, closing.encoded(), by: key)
  }

  mutating func device(
    _ name: String, of person: TestPerson, in generation: StatementID,
    approvedBy approver: TestDevice? = nil, words: TestKey? = nil
  ) -> TestDevice {
    let key = TestKey("\(person.name)'s \(name)")
    var certificate = Certificate(
      person: person.id, generation: generation, signingKey: key.publicKey,
      approver: approver?.certificate, time: 1)
    certificate.consent = key.sign(vault.signedMessage(.device, certificate.consentBody))
    let id = add(
      .certificate, certificate.encoded(), by: approver?.key ?? words ?? person.words)
    return TestDevice(person: person, key: key, certificate: id, id: certificate.device)
  }

  // MARK: Members

  mutating func member(by device: TestDevice) -> MemberID {
    randoms += 1
    let random = FileHash(storage: Digest.sha256([UInt8(randoms)]).storage)
    let root = MemberRoot(
      person: device.person.id, certificate: device.certificate, random: random)
    return MemberID(root: add(.root, root.encoded(), by: device.key))
  }

  /// A link as the holder of a place; nil for a leaving.
  mutating func link(
    _ member: MemberID, by device: TestDevice, as place: Place?, follows: [StatementID] = [],
    _ changes: [Change] = [], epoch: Bool = false, wraps: [Wrap] = [], time: UInt64 = 0,
    confirmed: [StatementID] = []
  ) -> StatementID {
    let link = Link(
      member: member, person: device.person.id, certificate: device.certificate, place: place,
      follows: follows, changes: changes,
      epoch: epoch ? FileHash(storage: Digest.sha256([1]).storage) : nil, wraps: wraps, time: time,
      confirmed: confirmed)
    return add(.link, link.encoded(), by: device.key)
  }

  /// A hand over with all its steps: an offer, after which the device of `taker` agrees, after which the place goes over.
  mutating func handOver(
    _ member: MemberID, by device: TestDevice, as place: Place, to taker: TestDevice,
    follows: [StatementID] = []
  ) -> StatementID {
    let offer = offer(member, by: device, as: place, to: taker.person, follows: follows)
    let agreement = agree(member, by: taker, to: offer)
    return link(
      member, by: device, as: place, follows: [agreement], [.handOver(taker.person.id)])
  }

  mutating func offer(
    _ member: MemberID, by device: TestDevice, as place: Place, to taker: TestPerson,
    follows: [StatementID] = [], time: UInt64 = 0
  ) -> StatementID {
    link(member, by: device, as: place, follows: follows, [.offer(taker.id)], time: time)
  }

  mutating func agree(
    _ member: MemberID, by device: TestDevice, to offer: StatementID
  ) -> StatementID {
    link(member, by: device, as: nil, follows: [offer], [.agree(device.person.id)])
  }

  /// The offer, the agreement and the hand over itself.
  func steps(of handOver: StatementID) -> [StatementID] {
    let links = trust().statements.links.values.reduce(into: [:]) { $0.merge($1) { old, _ in old } }
    let agreement = links[handOver]?.follows ?? []
    return (agreement.first.flatMap { links[$0]?.follows } ?? []) + agreement + [handOver]
  }

  mutating func leave(
    _ member: MemberID, by device: TestDevice, follows: [StatementID] = [],
    keeping role: Role? = nil
  ) -> StatementID {
    link(
      member, by: device, as: nil, follows: follows, [.limit(device.person.id, role, until: 0)])
  }

  func head(
    _ member: MemberID, by device: TestDevice, epoch: StatementID, follows: [StatementID] = [],
    counter: UInt64 = 1
  ) -> [UInt8] {
    let head = HeadFile(
      member: member, person: device.person.id, certificate: device.certificate,
      device: device.id, counter: counter, epoch: epoch, follows: follows, sealed: [1])
    let body = head.encoded()
    let message = vault.signedMessage(.head, body)
    return SignedFile(body: body, signature: device.key.sign(message)).encoded()
  }

  // MARK: Judging

  func trust(
    memory: TrustMemory = .empty, without hidden: Set<StatementID> = [],
    check: SignatureCheck = TestKey.check
  ) -> Trust {
    let files = files.filter { !hidden.contains($0.key) }.values
    return Trust(Statements(vault: vault, files: Array(files), check: check), memory: memory)
  }
}

extension MemberID {
  /// The place of the member's creator.
  func firstPlace(of person: TestPerson) -> Place { Place(link: root, person: person.id) }
}

extension Change {
  static func give(_ person: TestPerson, _ role: Role, until: UInt64 = 0) -> Change {
    .give(person.id, role, until: until)
  }

  static func take(_ person: TestPerson, to role: Role? = nil, until: UInt64 = 0) -> Change {
    .limit(person.id, role, until: until)
  }
}

extension Trust {
  func role(_ person: TestPerson, in member: MemberID, at time: UInt64 = 0) -> Role? {
    access(to: member)?.role(of: person.id, at: time)
  }

  func link(_ id: StatementID, in member: MemberID) -> LinkVerdict? {
    members[member]?.verdict(on: id)
  }
}
