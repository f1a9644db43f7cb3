import BlobStore
import VaultCrypto
import VaultModel

/// A head that was read and verified.
struct LoadedHead: Sendable {
  let device: DeviceID
  let counter: UInt64
  let hash: FileHash
  /// The epoch that it is sealed in, if that is another than the current one: then its revisions are, too.
  let late: EpochID?
  let head: Head
  let person: PersonID
  /// That vouches for the device.
  let certificate: StatementID
  /// The newest that the device knew of its person.
  let generation: StatementID
}

extension LoadedHead {
  /// Whether this is the head of a device that has taken over another one's line.
  func hasTakenOver(_ other: DeviceID, for device: DeviceID) -> Bool {
    self.device == device && head.branches.contains { $0.device == other }
  }
}

/// Reads and writes the heads of one member.
struct HeadRegister: Sendable {
  let member: MemberID
  let context: VaultContext
  let keys: MemberKeys
  let access: MemberGrants

  /// Who may write, as was last read.
  var grants: GrantChain { access.chain }

  static let fileLimit = 1 << 20

  var folder: BlobPath { BlobPath("members/\(member.hex)/heads") }

  func path(of device: DeviceID) -> VaultPath { .head(member, device) }

  /// The head of one device, if it counts.
  ///
  /// - Throws: `missing`, `damaged` when it does not decode or authenticate, or when its device or
  ///   person may not write this member.
  func load(_ device: DeviceID) throws(VaultError) -> LoadedHead {
    let head = try load(device, files: context.signedFiles, people: context.people)
    guard context.people.trust.statements.closings[head.generation] == nil else { return head }
    // Its person has begun a generation, and may have removed devices, this one or another.
    try context.reloadPeople()
    return try load(device, files: context.signedFiles, people: context.people)
  }

  /// `load` from other files than those in the vault's folder.
  func load(
    _ device: DeviceID, files: SignedFiles, people: People
  ) throws(VaultError) -> LoadedHead {
    let path = path(of: device)
    let (body, hash) = try HeadBody.load(
      member, device, files: files, people: people, grants: grants)
    guard let epoch = keys[body.keyID] else {
      throw .damaged(
        path: path.string,
        reason: "it is sealed with an unknown key; the grants of its epoch may not have come yet")
    }
    let plain = try files.open(
      body.sealed, with: epoch.registerKey, .head, path, counter: body.counter)
    do {
      return LoadedHead(
        device: device, counter: body.counter, hash: hash, late: keys.otherEpoch(body.keyID),
        head: try Head(decoding: plain), person: body.person,
        certificate: body.certificate, generation: body.generation)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// The hash of the file of a head, of which nothing is verified.
  func fileHash(of device: DeviceID) throws(VaultError) -> FileHash {
    try context.signedFiles.load(path(of: device)).hash
  }

  /// The bytes of this device's next head.
  ///
  /// - Throws: `thisDeviceRemoved`; `keysDivided` while this device waits for the words.
  func encode(_ head: Head, counter: UInt64, previous: FileHash?) throws(VaultError) -> [UInt8] {
    let path = path(of: context.device.id)
    let epoch = keys.current
    let sealed = context.signedFiles.seal(
      head.encoded(), with: epoch.registerKey, .head, path, counter: counter)
    let body = HeadBody(
      member: member, device: context.device.id, counter: counter, previous: previous,
      person: context.person, certificate: try context.ownCertificate().id,
      generation: context.keys.generation, keyID: epoch.keyID,
      sealed: sealed)
    return context.signedFiles.sign(body.encoded(), .head, path, with: context.device)
  }

  /// Puts the new head in place; durable, with everything written before it, when this returns.
  ///
  /// Steps 2 to 5 of Docs/Format.md, "Write order".
  func store(_ bytes: [UInt8]) throws(VaultError) {
    let final = BlobPath(path(of: context.device.id).string)
    let temporary = folder.appending(".\(context.device.id.hex).new")
    let store = context.store
    try storing { () throws(BlobStoreError) in
      do throws(BlobStoreError) {
        try bytes.withBytes { (bytes) throws(BlobStoreError) in try store.create(temporary, bytes) }
      } catch {
        guard case .alreadyExists = error else { throw error }
        try store.remove(temporary)
        try bytes.withBytes { (bytes) throws(BlobStoreError) in try store.create(temporary, bytes) }
      }
      try store.barrier()
      try store.renameDurably(temporary, to: final)
    }
  }
}

extension HeadBody {
  /// A device's head as far as it can be verified without the member's keys, and the hash of its file.
  ///
  /// - Throws: `missing`; `damaged` when it is another's, its signature does not hold, or its device or person
  ///   may not write this member.
  static func load(
    _ member: MemberID, _ device: DeviceID, files: SignedFiles, people: People, grants: GrantChain
  ) throws(VaultError) -> (HeadBody, FileHash) {
    let (body, hash) = try loadOfAnyone(member, device, files: files, people: people)
    guard grants.mayWrite(body.person) else {
      throw .damaged(
        path: VaultPath.head(member, device).string,
        reason: "its person may not write this member")
    }
    return (body, hash)
  }

  /// `load` without asking what the device's person may do.
  static func loadOfAnyone(
    _ member: MemberID, _ device: DeviceID, files: SignedFiles, people: People
  ) throws(VaultError) -> (body: HeadBody, hash: FileHash) {
    let path = VaultPath.head(member, device)
    let file = try files.load(path)
    let body = try file.decode(HeadBody.init(decoding:))
    guard body.member == member, body.device == device, body.counter > 0 else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    let certificate = try people.certificate(
      body.certificate, of: device, person: body.person, path: path)
    try file.verify(.head, publicKey: certificate.signingKey.bytes)
    return (body, file.hash)
  }
}
