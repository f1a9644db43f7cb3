import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// A head that was read and verified.
struct LoadedHead: Sendable {
  let device: DeviceID
  let counter: UInt64
  let hash: FileHash
  /// The epoch that it is sealed in, if that is another than the current one: then its revisions are, too.
  let late: StatementID?
  let head: Head
  /// What the file says in the open; what was sealed in it is `head`.
  let body: HeadFile

  var person: PersonID { body.person }
  /// The certificate that vouches for the device.
  var certificate: StatementID { body.certificate }
}

extension LoadedHead {
  /// The same head, as it is while this epoch is in use.
  func read(under current: StatementID) -> LoadedHead {
    LoadedHead(
      device: device, counter: counter, hash: hash,
      late: body.epoch == current ? nil : body.epoch, head: head, body: body)
  }

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
  let known: KnownLinks

  /// Who may write, as was last read.
  var links: MemberLinks { known.links }

  static let fileLimit = 1 << 20

  var folder: BlobPath { BlobPath("members/\(member.hex)/heads") }

  func path(of device: DeviceID) -> VaultPath { .head(member, device) }

  /// The head of one device, if it counts.
  ///
  /// - Throws: `missing`, `damaged` when it does not decode or authenticate, or when its device or
  ///   person may not write this member; `keysDivided` for this device's own, while it waits for the words.
  func load(_ device: DeviceID) throws(VaultError) -> LoadedHead {
    let head: LoadedHead
    do {
      head = try load(device, files: context.signedFiles, people: context.people)
    } catch {
      // Nothing of it has to come: its certificate is of one of two generations.
      if device == context.device.id { try context.requireJoinedKeys() }
      throw error
    }
    guard let generation = head.body.generation,
      context.people.trust.statements.closings[generation] == nil
    else { return head }
    // Its person has begun a generation, and may have removed devices, this one or another.
    try context.reloadPeople()
    return try load(device, files: context.signedFiles, people: context.people)
  }

  /// `load` from other files than those in the vault's folder, by links that may be others as well.
  func load(
    _ device: DeviceID, files: SignedFiles, people: People, links: MemberLinks? = nil
  ) throws(VaultError) -> LoadedHead {
    let links = links ?? self.links
    let judged = try judges(people, links).judge(device, in: files)
    try judged.requireCounting()
    return try open(judged, files, links)
  }

  /// The newest head that this machine has written, if that counts no more: its device has been left out since, and the machine
  /// is another one, or its person was let out of the member, and in again; nil where it counts, or is somebody else's.
  func loadFormerOwn(_ kept: KeptHead) throws(VaultError) -> LoadedHead? {
    guard let device = kept.device else { return nil }
    let isOwn = device == context.device.id
    if !isOwn, try context.ownPerson().removal(of: device) == nil { return nil }
    var store = OverlayStore(context.store)
    store.add(BlobPath(path(of: device).string), kept.bytes)
    let files = SignedFiles(store: store, binding: context.binding)
    let judged = try judges(context.people, links).judge(device, in: files)
    guard judged.body.person == context.person,
      isOwn ? judged.isOfFormerWriter : judged.isOfFormerDevice
    else { return nil }
    return try open(judged, files, links)
  }

  private func open(
    _ judged: JudgedHead, _ files: SignedFiles, _ links: MemberLinks
  ) throws(VaultError) -> LoadedHead {
    let (body, hash) = (judged.body, judged.hash)
    let device = body.device
    let path = path(of: device)
    guard let epoch = keys.epoch(body.epoch) else {
      // Nobody brings the key of an epoch that is over, and this machine never had it: so another one has written that.
      if device == context.device.id, links.trust.epochs.over.contains(body.epoch) {
        throw .branched(path: path.string, above: 0)
      }
      throw .waiting(path, until: "the key that it is sealed with has come")
    }
    let sealed: Sealed
    do { sealed = try Sealed(decoding: body.sealed) } catch {
      throw VaultError(error, path: path.string)
    }
    let plain = try files.open(
      sealed, with: epoch.keys.registerKey, .head, path, counter: body.counter)
    var opened = body
    opened.sealed = []
    do {
      return LoadedHead(
        device: device, counter: body.counter, hash: hash,
        late: body.epoch == keys.currentEpoch ? nil : body.epoch,
        head: try Head(decoding: plain), body: opened)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// The hash of the file of a head, of which nothing is verified.
  func fileHash(of device: DeviceID) throws(VaultError) -> FileHash {
    try context.signedFiles.load(path(of: device)).hash
  }

  /// This device's next head, and its file's bytes.
  ///
  /// - Throws: `thisDeviceRemoved`; `keysDivided` while this device waits for the words; `limit` for one that nobody could read.
  func encode(
    _ head: Head, counter: UInt64, previous: FileHash?
  ) throws(VaultError) -> (body: HeadFile, bytes: [UInt8]) {
    let path = path(of: context.device.id)
    let epoch = keys.current
    let plain = head.encoded()
    let sealed = context.signedFiles.seal(
      plain, with: epoch.registerKey, .head, path, counter: counter)
    let certificate = try context.ownCertificate()
    // What the certificate and the epoch say need not be said again.
    let generation = context.keys.generation
    var body = HeadFile(
      member: member, person: context.person, certificate: certificate.id,
      device: context.device.id, counter: counter, previous: previous, epoch: keys.currentEpoch,
      follows: links.history.tips(for: context.person).filter { $0 != keys.currentEpoch },
      generation: generation == certificate.certificate.generation ? nil : generation,
      keyID: epoch.keyID)
    let opened = body
    body.sealed = sealed.encoded()
    let encoded = body.encoded()
    let device = context.device
    let bytes = context.signedFiles.statement(.head, encoded) { device.signingKey.sign($0) }
    try requireReadable(plain, encoded, byteCount: bytes.count)
    return (opened, bytes)
  }

  /// Much of what a head says others have brought about. One that is more than a reader takes would replace the one that is there,
  /// and nobody could read either.
  private func requireReadable(
    _ head: [UInt8], _ body: [UInt8], byteCount: Int
  ) throws(VaultError) {
    do {
      _ = try Head(decoding: head)
      _ = try HeadFile(decoding: body)
      try Limits.check(byteCount, Self.fileLimit, "bytes")
    } catch {
      guard case .limit(let what, let found, let limit) = error else {
        throw VaultError(error, path: path(of: context.device.id).string)
      }
      throw .limit(what: "\(what) of a head", found: found, limit: limit)
    }
  }

  /// Puts a head of this device in place; durable, with everything written before it, when this returns.
  func store(_ bytes: [UInt8]) throws(VaultError) {
    try stage(bytes, since: context.failedBarriers)
    try showStaged()
  }

  /// Writes a head under a temporary name: on disk, with everything written before it, when this returns.
  ///
  /// Steps 2 and 3 of Docs/Format.md, "Write order".
  ///
  /// - Parameter failures: How many barriers had failed before what the head names began to be written.
  func stage(_ bytes: [UInt8], since failures: UInt64) throws(VaultError) {
    let (store, temporary) = (context.store, stagedPath)
    try storing { () throws(BlobStoreError) in
      do throws(BlobStoreError) {
        try bytes.withBytes { (bytes) throws(BlobStoreError) in try store.create(temporary, bytes) }
      } catch {
        guard case .alreadyExists = error else { throw error }
        try store.remove(temporary)
        try bytes.withBytes { (bytes) throws(BlobStoreError) in try store.create(temporary, bytes) }
      }
    }
    try context.barrier(since: failures)
  }

  /// Puts the head that was staged in place; durable when this returns.
  ///
  /// Steps 4 and 5 of Docs/Format.md, "Write order".
  func showStaged() throws(VaultError) {
    let final = BlobPath(path(of: context.device.id).string)
    try storing(context.store.renameDurably(stagedPath, to: final))
    context.noteWrite()
  }

  private var stagedPath: BlobPath { folder.appending(".\(context.device.id.hex).new") }
}
