import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// Everyone in the vault, judged: who they are, and which devices are theirs.
package struct People: Sendable {
  package let trust: Trust
  package let persons: [PersonID: Person]
  /// Files of people that do not hold. What does not count of a person's is told of those whom somebody knows:
  /// `Vault.problems(of:)`.
  package let problems: [Problem]
  /// The files of all statements that are sound.
  let files: [VaultPath: [UInt8]]
  /// Statements that this machine remembers and the folder lacks.
  package let lost: [VaultPath: [UInt8]]
  /// Statements that this machine could not read just now.
  package let unread: [BlobPath: VaultError]
  private let formerDevices: Set<DeviceID>
  private let leftOutBy: [DeviceID: [PersonID]]

  package subscript(id: PersonID) -> Person? { persons[id] }

  /// Why a statement of the person could not be read just now; nil: there is none.
  package func unread(of person: PersonID) -> VaultError? {
    if unread.isEmpty { return nil }
    let folder = BlobPath("people/\(person.hex)").string + "/"
    return unread.first { $0.key.string.hasPrefix(folder) }?.value
  }

  /// How many devices count now, of all persons.
  package var deviceCount: Int { persons.values.reduce(0) { $0 + $1.devices.count } }

  /// Whether a device was left out by whoever certified it, and nobody's certificate of it counts or waits.
  package func isFormer(_ device: DeviceID) -> Bool { formerDevices.contains(device) }

  /// Those who have left the device out, whoever else says that it is theirs.
  package func whoLeftOut(_ device: DeviceID) -> [PersonID] { leftOutBy[device] ?? [] }

  /// Reads and judges everyone. A broken file is as if it were not there, and is told.
  ///
  /// - Parameter memory: What this machine has seen count, which stands whether the folder has it or not.
  package static func load(
    store: any BlobStore, files: SignedFiles, memory: PeopleMemory
  ) throws(VaultError) -> People {
    var reading = PeopleReading(store: store, vault: files.binding.vault, memory: memory)
    try reading.run()
    return People(reading)
  }

  init(_ reading: PeopleReading) {
    let memory = reading.memory
    let statements = Statements(
      vault: reading.vault, files: reading.paths.keys.map { $0 }, verified: memory.verified)
    let trust = Trust(statements, memory: TrustMemory(closings: memory.closings))
    var certificates: [PersonID: [StatementID: Certificate]] = [:]
    for (id, certificate) in statements.certificates {
      certificates[certificate.person, default: [:]][id] = certificate
    }
    var persons: [PersonID: Person] = [:]
    for (id, history) in trust.people where !history.counting.isEmpty {
      persons[id] = Person(id: id, history: history, certificates: certificates[id] ?? [:])
    }
    self.trust = trust
    self.persons = persons
    var leftOutBy: [DeviceID: [PersonID]] = [:]
    for person in persons.values {
      for device in person.former.keys { leftOutBy[device, default: []].append(person.id) }
    }
    self.leftOutBy = leftOutBy
    formerDevices = Set(leftOutBy.keys)
      .subtracting(persons.values.flatMap { Array($0.devices.keys) + Array($0.waiting.keys) })
    files = Dictionary(
      reading.paths.filter { statements.broken[$0.key] == nil }.map { ($0.value, $0.key.bytes) },
      uniquingKeysWith: { first, _ in first })
    lost = reading.lost
    unread = reading.unread
    problems =
      reading.problems
      + statements.broken.compactMap { file, error in
        reading.paths[file].map { path in
          Problem(.damaged, .damage, path: path.string, reason: "\(error)")
        }
      }.sorted { $0.path < $1.path }
  }

  /// Puts what this machine remembers into the folder that lacks it; durable when it returns.
  package func putBack(into store: any LocalStore) throws(VaultError) {
    for (path, bytes) in lost {
      try storing(store.replace(BlobPath(path.string), bytes, durably: true))
    }
  }

  private static let wholeKeys =
    "the keys of its person are whole: some have not come here, or were changed on two machines and not joined"

  /// The certificate that vouches for what a device signed at `path`.
  ///
  /// - Throws: `damaged`, naming `path`, when nobody vouches for it; `signedByRemovedDevice`.
  package func certificate(
    of device: DeviceID, person: PersonID, path: VaultPath
  ) throws(VaultError) -> Certificate {
    let known = try anyCertificate(of: device, person: person, path: path)
    switch trust.device(known.id) {
    case .counts: return known.certificate
    case .former: throw .signedByRemovedDevice(path: path.string)
    case .waiting, .unknown:
      throw .waiting(path, until: Self.wholeKeys)
    }
  }

  /// The certificate that vouches for what a device wrote, perhaps before it was removed, and only its person reads.
  ///
  /// - Throws: As `certificate`, but for `signedByRemovedDevice`.
  package func anyCertificate(
    of device: DeviceID, person: PersonID, path: VaultPath
  ) throws(VaultError) -> CertifiedDevice {
    guard let known = persons[person] else {
      throw .damaged(path: path.string, reason: "its person is not in this vault")
    }
    guard let certificate = known.anyCertificate(of: device) else {
      throw .damaged(path: path.string, reason: "its device is not certified")
    }
    return certificate
  }

  /// Verifies a statement that a device of the person signed, and that counts.
  ///
  /// - Returns: The statement's id.
  /// - Throws: `damaged`; `signedByRemovedDevice` when the device was left out and no closing lists the statement.
  @discardableResult
  func verify(
    _ file: LoadedSignedFile, _ label: FileLabel, by certificate: StatementID, of person: PersonID
  ) throws(VaultError) -> StatementID {
    let path = file.path
    guard persons[person] != nil else {
      throw .damaged(path: path.string, reason: "its person is not in this vault")
    }
    guard let signer = trust.statements.certificates[certificate], signer.person == person else {
      throw .damaged(path: path.string, reason: "its device is not certified")
    }
    try file.verify(label, publicKey: signer.signingKey.bytes)
    let id = file.statementID(label)
    guard trust.stands(id, by: certificate) else {
      guard trust.device(certificate) == .former else {
        throw .waiting(path, until: Self.wholeKeys)
      }
      throw .signedByRemovedDevice(path: path.string)
    }
    return id
  }
}
