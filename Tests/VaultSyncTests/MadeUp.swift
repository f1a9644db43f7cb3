import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultPeople
@testable import VaultSync

/// People and members that somebody makes up who can write to a remote, with real keys of their own.
struct MadeUp {
  /// A person with one device, of whom nobody has heard.
  struct Person {
    let id: PersonID
    let certificate: StatementID
    let generation: StatementID
    let device: DeviceID
    let key: Key
  }

  final class Key: Sendable {
    let key = SigningKey(seed: SecretBytes(randomCount: 32))
  }

  let vault: VaultID
  let store: any BlobStore

  private var files: SignedFiles { SignedFiles(store: store, binding: Binding(vault: vault)) }

  private func put(_ path: VaultPath, _ bytes: [UInt8]) throws {
    try store.put(BlobPath(path.string), bytes)
  }

  /// - Parameter root: What their words give.
  func person(_ root: Key = Key()) throws -> Person {
    let key = Key()
    let id = PersonID(rootPublicKey: root.key.publicKey)
    let closing = Closing(
      person: id, rootKey: try #require(VerifyingKey(root.key.publicKey)),
      agreementKey: [UInt8](repeating: 1, count: 1_216),
      recovery: [UInt8](repeating: 2, count: 64),
      time: 1)
    let body = closing.encoded()
    let generation = vault.statementID(.closing, body: body)
    try put(
      .closing(id, generation), files.statement(.closing, body) { root.key.sign($0) })
    var certificate = Certificate(
      person: id, generation: generation,
      signingKey: try #require(VerifyingKey(key.key.publicKey)),
      agreementKey: [UInt8](repeating: 3, count: 1_216), time: 1)
    certificate.consent = key.key.sign(
      vault.signedMessage(.device, certificate.consentBody))
    let signed = certificate.encoded()
    let statement = vault.statementID(.certificate, body: signed)
    try put(
      .certificate(id, statement), files.statement(.certificate, signed) { root.key.sign($0) })
    return Person(
      id: id, certificate: statement, generation: generation, device: certificate.device,
      key: key)
  }

  /// A certificate of a new device of somebody, in a generation of theirs that is nowhere.
  ///
  /// - Parameter sign: Signs it as the device that approves it.
  func waitingDevice(
    of person: PersonID, approvedBy approver: StatementID, sign: ([UInt8]) -> [UInt8]
  ) throws {
    let key = SigningKey(seed: SecretBytes(randomCount: 32))
    var certificate = Certificate(
      person: person, generation: .random(),
      signingKey: try #require(VerifyingKey(key.publicKey)),
      agreementKey: [UInt8](repeating: 3, count: 1_216), approver: approver, time: 1)
    certificate.consent = key.sign(vault.signedMessage(.device, certificate.consentBody))
    let body = certificate.encoded()
    let statement = vault.statementID(.certificate, body: body)
    try put(
      .certificate(person, statement), files.statement(.certificate, body) { sign($0) })
  }

  /// A member of the person with a link, a head, and objects that nobody can open.
  ///
  /// - Parameter taker: Who is said to have access.
  @discardableResult
  func member(
    of person: Person, objectCount: Int, objectByteCount: Int = 1 << 20,
    givenTo taker: PersonID? = nil
  ) throws -> MemberID {
    let root = MemberRoot(
      person: person.id, certificate: person.certificate, random: .random(), time: 1)
    let body = root.encoded()
    let member = MemberID(root: vault.statementID(.root, body: body))
    try put(.memberRoot(member), sign(.root, body, person))
    let key = FamilyMemberKey.random()
    let binding = Binding(vault: vault)
    let link = Link(
      member: member, person: person.id, certificate: person.certificate,
      place: Place(link: member.root, person: person.id),
      changes: taker.map { [.give($0, .owner, until: 0)] } ?? [],
      epoch: key.commitment(member: member, binding: binding), time: 1)
    let linkBody = link.encoded()
    let start = vault.statementID(.link, body: linkBody)
    try put(.link(member, start), sign(.link, linkBody, person))
    let keys = EpochKeys(key, member: member, binding: binding)
    // Nobody can open them, so nobody sees that they are one.
    let object = keys.seal(
      name: .random(), kind: .chunk, content: [UInt8](repeating: 7, count: objectByteCount))
    for _ in 0..<objectCount { try put(.object(member, .random()), object) }
    let head = HeadFile(
      member: member, person: person.id, certificate: person.certificate,
      device: person.device, epoch: start, follows: [start],
      sealed: Sealed(
        nonce: [UInt8](repeating: 0, count: 12), ciphertext: [UInt8](repeating: 0, count: 64)
      ).encoded(), keyID: keys.keyID)
    try put(.head(member, person.device), sign(.head, head.encoded(), person))
    return member
  }

  /// Makes a machine that has asked a person for it a device of theirs, without any words that it knows.
  func certify(_ device: DeviceID, of person: Person, _ root: Key) throws {
    let request = try DeviceRequestBody.load(device, person: person.id, files: files)
    let body = Certificate(
      person: person.id, generation: person.generation,
      signingKey: try #require(VerifyingKey(request.signingPublicKey)),
      agreementKey: request.agreementPublicKey, consent: request.consent, time: 1
    ).encoded()
    try put(
      .certificate(person.id, vault.statementID(.certificate, body: body)),
      files.statement(.certificate, body) { root.key.sign($0) })
  }

  // MARK: In the folders of others

  /// A machine asks somebody to let it in.
  func request(to person: PersonID) throws -> VaultPath {
    let device = ThisDevice(
      signingSeed: SecretBytes(randomCount: 32), agreementPrivateKey: SecretBytes(randomCount: 32))
    let path = VaultPath.deviceRequest(person, device.id)
    let body = DeviceRequestBody(
      person: person, device: device.id, signingPublicKey: device.signingKey.publicKey,
      agreementPublicKey: device.agreementKey.publicKey,
      consent: PublicDevice(device, of: person, binding: Binding(vault: vault)).consent, time: 1,
      sealed: .nothing(like: 64))
    try put(path, files.sign(body.encoded(), .request, path, with: device))
    return path
  }

  /// What is as long as a wrap of a member's key.
  func wrap(in member: MemberID) throws -> VaultPath {
    let bytes = Sealed.nothing(like: 1_145).ciphertext
    let path = VaultPath.epochWrap(member, Digest.sha256(bytes))
    try put(path, bytes)
    return path
  }

  /// A link of somebody without any place, which follows one that there is not, or these.
  func link(
    in member: MemberID, by person: Person, follows: [StatementID] = [.random()]
  ) throws -> VaultPath {
    let body = Link(
      member: member, person: person.id, certificate: person.certificate,
      place: Place(link: member.root, person: person.id), follows: follows,
      changes: [.give(person.id, .owner, until: 0)], time: 1
    ).encoded()
    let path = VaultPath.link(member, vault.statementID(.link, body: body))
    try put(path, sign(.link, body, person))
    return path
  }

  /// A closing of somebody that other words have signed than theirs, and a device that it certifies.
  ///
  /// - Parameter known: Of a device that has agreed to be theirs, and is certified instead of a new one.
  @discardableResult
  func falseDevice(
    of person: PersonID, like known: Certificate? = nil
  ) throws -> (paths: [VaultPath], device: DeviceID, key: Key) {
    let words = SigningKey(seed: SecretBytes(randomCount: 32))
    let key = Key()
    let closing = Closing(
      person: person, rootKey: try #require(VerifyingKey(words.publicKey)),
      agreementKey: [UInt8](repeating: 1, count: 1_216),
      recovery: [UInt8](repeating: 2, count: 64), time: 1
    ).encoded()
    let generation = vault.statementID(.closing, body: closing)
    var certificate = Certificate(
      person: person, generation: generation,
      signingKey: try #require(VerifyingKey(key.key.publicKey)),
      agreementKey: [UInt8](repeating: 3, count: 1_216), time: 1)
    certificate.consent = key.key.sign(vault.signedMessage(.device, certificate.consentBody))
    if let known {
      (certificate.signingKey, certificate.agreementKey) = (known.signingKey, known.agreementKey)
      certificate.consent = known.consent
    }
    let signed = certificate.encoded()
    let paths = [
      VaultPath.closing(person, generation),
      .certificate(person, vault.statementID(.certificate, body: signed)),
    ]
    try put(paths[0], files.statement(.closing, closing) { words.sign($0) })
    try put(paths[1], files.statement(.certificate, signed) { words.sign($0) })
    return (paths, certificate.device, key)
  }

  /// A segment of a log that such a device writes.
  func segment(of person: PersonID, by device: DeviceID, _ key: Key) throws -> VaultPath {
    let path = VaultPath.auditSegment(device, first: 1)
    let body = AuditSegmentBody(
      person: person, device: device, first: 1, generation: .random(), sealed: .nothing(like: 64))
    try put(path, files.sign(body.encoded(), .audit, path, with: key.key))
    return path
  }

  private func sign(_ label: SignedLabel, _ body: [UInt8], _ person: Person) -> [UInt8] {
    files.statement(label, body) { person.key.key.sign($0) }
  }
}

extension MemoryStore {
  /// What the store has below a folder.
  func weight(of folder: String) -> CargoWeight {
    weight { $0.hasPrefix("\(folder)/") }
  }

  /// What the store has of these.
  func weight(of owners: Set<CargoOwner>) -> CargoWeight {
    weight { path in
      CargoOwner(path: path.split(separator: "/").prefix(2).joined(separator: "/"))
        .map(owners.contains) ?? false
    }
  }

  private func weight(_ isMeant: (String) -> Bool) -> CargoWeight {
    blobs.reduce(into: CargoWeight()) { weight, blob in
      if isMeant(blob.key.string) { weight.add(byteCount: UInt64(blob.value.count)) }
    }
  }
}

extension Vault {
  /// The file of a register in which a device of this person calls them Mallory, for ever, signed by this one for a place.
  func madeUpRegister(of device: DeviceID, counter: UInt64, at place: VaultPath) -> [UInt8] {
    let (files, keys) = (context.signedFiles, context.keys)
    let profile = DeviceProfile(
      deviceName: "phone", deviceKind: "phone",
      profile: PersonalProfile(
        name: "Mallory", time: HybridTime(milliseconds: 9_999_999_999_999, counter: 0),
        people: []), created: 1)
    let body = DeviceBody(
      person: person, device: device, counter: counter, previous: nil,
      generation: keys.generation,
      sealed: files.seal(
        profile.encoded(), with: keys.profileKey, .deviceRegister, .device(person, device),
        counter: counter))
    return files.sign(body.encoded(), .deviceRegister, place, with: context.device)
  }
}
