import BlobStore
import VaultCrypto
import VaultModel

/// A person as their verified identity and certificates show them.
struct Person: Sendable {
  let identity: IdentityBody
  let hash: FileHash
  /// The devices that a generation vouches for and that were not removed, with the newest of their certificates.
  let certificates: [DeviceID: DeviceCertificateBody]
  /// The same of those that were removed.
  let former: [DeviceID: DeviceCertificateBody]

  /// When the person removed the device; nil if they did not.
  func removal(of device: DeviceID) -> RemovedDevice? {
    identity.removed.first { $0.device == device }
  }

  /// The key that signed for this person in the generation; nil if there was none such.
  func signingPublicKey(generation: UInt32) -> [UInt8]? {
    if generation == identity.generation { return identity.signingPublicKey }
    return identity.past.first { $0.generation == generation }?.signingPublicKey
  }

  /// The key that keys were wrapped for in the generation; nil if there was none such.
  func agreementPublicKey(generation: UInt32) -> [UInt8]? {
    if generation == identity.generation { return identity.agreementPublicKey }
    return identity.past.first { $0.generation == generation }?.agreementPublicKey
  }
}

/// Everyone in the vault, verified: who they are, and which devices are theirs.
struct People: Sendable {
  private(set) var persons: [PersonID: Person] = [:]
  /// Files of people that do not hold; whoever they claim to be is ignored.
  private(set) var problems: [Problem] = []

  /// The devices that their persons removed: what they signed counts no more.
  var removedDevices: Set<DeviceID> {
    Set(persons.values.flatMap(\.former.keys))
  }

  /// How many devices are certified now, of all persons.
  var deviceCount: Int { persons.values.reduce(0) { $0 + $1.certificates.count } }

  subscript(id: PersonID) -> Person? { persons[id] }

  /// Reads and verifies everyone. One person's broken file hides that person only.
  static func load(store: any BlobStore, files: SignedFiles) throws(VaultError) -> People {
    var people = People()
    let folders = try storing { () throws(BlobStoreError) in try store.list("people") }
    for folder in folders where folder.isFolder {
      guard let id = PersonID(hex: folder.name) else {
        people.problems.append(.foreign("people/\(folder.name)"))
        continue
      }
      do throws(VaultError) {
        people.persons[id] = try people.loadPerson(id, store: store, files: files)
      } catch {
        people.problems.append(Problem(error, path: VaultPath.identity(id).string))
      }
    }
    return people
  }

  private mutating func loadPerson(
    _ id: PersonID, store: any BlobStore, files: SignedFiles
  ) throws(VaultError) -> Person {
    let (identity, hash) = try Self.loadIdentity(id, files: files)
    var certificates = try loadCertificates(
      of: identity, generation: identity.generation, signingKey: identity.signingPublicKey,
      store: store, files: files)
    for past in identity.past.sorted(by: { $0.generation > $1.generation }) {
      let older = try loadCertificates(
        of: identity, generation: past.generation, signingKey: past.signingPublicKey, store: store,
        files: files)
      certificates.merge(older) { newer, _ in newer }
    }
    let removed = Set(identity.removed.map(\.device))
    return Person(
      identity: identity, hash: hash,
      certificates: certificates.filter { !removed.contains($0.key) },
      former: certificates.filter { removed.contains($0.key) })
  }

  private mutating func loadCertificates(
    of identity: IdentityBody, generation: UInt32, signingKey: [UInt8], store: any BlobStore,
    files: SignedFiles
  ) throws(VaultError) -> [DeviceID: DeviceCertificateBody] {
    let folder = BlobPath("people/\(identity.person.hex)/generations/\(generation)")
    let entries = try storing { () throws(BlobStoreError) in try store.list(folder) }
    var certificates: [DeviceID: DeviceCertificateBody] = [:]
    for entry in entries {
      let path = folder.appending(entry.name).string
      guard case .certificate(_, _, let device) = VaultPath(parsing: path) else {
        problems.append(.foreign(path))
        continue
      }
      do throws(VaultError) {
        certificates[device] = try Self.loadCertificate(
          device, person: identity.person, generation: generation, signingKey: signingKey,
          files: files)
      } catch {
        problems.append(Problem(error, path: path))
      }
    }
    return certificates
  }

  /// Takes another view of a person, or none, in the place of what was read.
  mutating func put(_ person: Person?, of id: PersonID, because error: VaultError) {
    persons[id] = person
    problems.append(Problem(error, path: VaultPath.identity(id).string))
  }

  /// One person's identity, verified against the hash that names them and the chain of their root keys.
  static func loadIdentity(
    _ id: PersonID, files: SignedFiles
  ) throws(VaultError) -> (IdentityBody, FileHash) {
    let path = VaultPath.identity(id)
    let file = try files.load(path)
    let identity = try file.decode(IdentityBody.init(decoding:))
    guard identity.person == id, PersonID(rootPublicKey: identity.rootPublicKey) == id else {
      throw .damaged(path: path.string, reason: "it is not this person's")
    }
    try identity.verifyRootKeys(binding: files.binding)
    try file.verify(.identity, publicKey: identity.newestRootKey)
    return (identity, file.hash)
  }

  /// One device's certificate of the identity's current generation.
  static func loadCertificate(
    _ device: DeviceID, identity: IdentityBody, files: SignedFiles
  ) throws(VaultError) -> DeviceCertificateBody {
    try loadCertificate(
      device, person: identity.person, generation: identity.generation,
      signingKey: identity.signingPublicKey, files: files)
  }

  /// One device's certificate of any generation, whose signing key this is.
  static func loadCertificate(
    _ device: DeviceID, person: PersonID, generation: UInt32, signingKey: [UInt8],
    files: SignedFiles
  ) throws(VaultError) -> DeviceCertificateBody {
    let path = VaultPath.certificate(person, generation: generation, device)
    let file = try files.load(path)
    let body = try file.decode(DeviceCertificateBody.init(decoding:))
    let named = DeviceID(
      signingPublicKey: body.signingPublicKey, agreementPublicKey: body.agreementPublicKey)
    guard body.person == person, body.generation == generation, body.device == device,
      named == device
    else {
      throw .damaged(path: path.string, reason: "it is not this device's")
    }
    try file.verify(.certificate, publicKey: signingKey)
    return body
  }

  /// The certificate that vouches for a device which signed the file at `path`.
  ///
  /// - Throws: `damaged`, naming `path`, when nobody vouches for it; `signedByRemovedDevice`.
  func certificate(
    of device: DeviceID, person: PersonID, path: VaultPath
  ) throws(VaultError) -> DeviceCertificateBody {
    guard let known = persons[person] else {
      throw .damaged(path: path.string, reason: "its person is not in this vault")
    }
    if known.former[device] != nil { throw .signedByRemovedDevice(path: path.string) }
    guard let certificate = known.certificates[device] else {
      throw .damaged(path: path.string, reason: "its device is not certified")
    }
    return certificate
  }

  /// The same for what a device wrote before it may have been removed, and only its person reads.
  ///
  /// - Throws: As `certificate`, but for `signedByRemovedDevice`.
  func certificateThen(
    of device: DeviceID, person: PersonID, generation: UInt32, path: VaultPath
  ) throws(VaultError) -> DeviceCertificateBody {
    if let former = persons[person]?.former[device], generation <= former.generation {
      return former
    }
    return try certificate(of: device, person: person, path: path)
  }
}

extension Problem {
  /// A file that is no part of a vault.
  static func foreign(_ path: String) -> Problem {
    Problem(.foreignFile, .note, path: path, reason: "it is no part of a vault, and is ignored")
  }

  /// What an error says of a file.
  init(_ error: VaultError, path: String) {
    switch error {
    case .missing(let path):
      self.init(.missing, .damage, path: path, reason: "it is not there")
    case .damaged(let path, let reason):
      self.init(.damaged, .damage, path: path, reason: reason)
    case .rolledBack(let path, let found, let seen):
      self.init(
        .rollback, .warning, path: path,
        reason: "it is at \(found), but \(seen) was seen before: an older copy was put back")
    case .signedByRemovedDevice(let path):
      self.init(
        .removedDevice, .note, path: path,
        reason: "its device has been removed, so it counts no more")
    case .forked(let path, let counter):
      self.init(
        .fork, .damage, path: path, reason: "another file with the counter \(counter) was seen")
    case .branched(let path, _):
      self.init(
        .fork, .warning, path: path,
        reason:
          "its machine was put back to an earlier state, or copied, and it does not go on from what is known "
          + "here; nothing of either is lost, and that machine's next sync makes it a device of its own"
      )
    default:
      self.init(.damaged, .damage, path: path, reason: "it cannot be read: \(error.message)")
    }
  }
}
