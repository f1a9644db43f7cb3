import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What a signed file says of itself, once it is verified.
package struct SignedFacts: Hashable, Sendable {
  /// The counter of a register; 0 for a statement.
  package var counter: UInt64
  /// The hash of the whole file; of a closing, certificate or link its id, which is the same in every envelope.
  package var hash: FileHash
  /// The hash of the register that this one replaced.
  package var previous: FileHash?
  /// The counter of the device's register since which nothing but the end of its log has changed; nil where the register does
  /// not say so, and for other files.
  package var unchangedSince: UInt64?
}

/// The signed files of a copy of a vault, verified without any key: who is in it, whose devices are whose, and who
/// may do what with which member. Docs/Format.md, "Signed files".
///
/// This is how a sync judges what a remote shows: `adding` gives the tree as it would be with new statements, and
/// `verify` says whether a file would count in it. Nothing is written.
package struct SignedTree: Sendable {
  let store: OverlayStore
  let files: SignedFiles
  let people: People
  // What counted on this machine before, of people and of members.
  private let memory: PeopleMemory
  private let state: StateFolder?
  private let opener: WrapOpener?
  private let judged = JudgedMembers()

  /// - Parameters:
  ///   - state: Where this machine keeps what counted before; without it, the files alone decide.
  ///   - opener: Tells which wraps for this machine's device hold; without it, their form alone is looked at.
  /// - Throws: `io` and the like when the people cannot be listed; a broken file of one hides only that one.
  package static func load(
    vault: VaultID, store: any BlobStore, state: StateFolder? = nil, opener: WrapOpener? = nil
  ) throws(VaultError) -> SignedTree {
    try load(
      OverlayStore(store), binding: Binding(vault: vault), state: state,
      memory: try state?.loadPeopleMemory() ?? PeopleMemory(), opener: opener)
  }

  private static func load(
    _ store: OverlayStore, binding: Binding, state: StateFolder?, memory: PeopleMemory,
    opener: WrapOpener?
  ) throws(VaultError) -> SignedTree {
    let files = SignedFiles(store: store, binding: binding)
    let people = try People.load(store: store, files: files, memory: memory)
    return SignedTree(
      store: store, files: files, people: people, memory: memory, state: state, opener: opener)
  }

  /// When the person removed the device, in milliseconds since 1970; nil if they did not.
  package func removal(of device: DeviceID, from person: PersonID) -> UInt64? {
    people[person]?.removal(of: device)
  }

  /// How many people have keys that count.
  package var personCount: Int { people.persons.count }

  /// The tree with these files, which may be anything: what does not verify changes nothing. A statement that is here
  /// already stays, unless it is broken.
  package func adding(_ new: [VaultPath: [UInt8]]) throws(VaultError) -> SignedTree {
    var store = store
    for (path, bytes) in new where path.isStatement {
      let blobPath = BlobPath(path.string)
      if try storing(store.size(of: blobPath)) != nil,
        try !isReplaced(path, by: bytes)
      {
        continue
      }
      store.add(blobPath, bytes)
    }
    return try holding(store)
  }

  /// The tree of what is in this store.
  private func holding(_ store: OverlayStore) throws(VaultError) -> SignedTree {
    try Self.load(
      store, binding: files.binding, state: state, memory: memory, opener: opener)
  }

  /// Whether the file of a statement that stands here does not hold, and these bytes do.
  private func isReplaced(_ path: VaultPath, by bytes: [UInt8]) throws(VaultError) -> Bool {
    do {
      _ = try verifyStored(path)
      return false
    } catch {
      guard error.isOfBrokenFile else { throw error }
    }
    do { _ = try verify(path, bytes) } catch {
      guard error.isOfBrokenFile else { throw error }
      return false
    }
    return true
  }

  /// Whether these bytes count as the file at `path`, and what they say.
  ///
  /// - Throws: `damaged`, with the reason, when they do not; `missing` when something that they build on is.
  package func verify(_ path: VaultPath, _ bytes: [UInt8]) throws(VaultError) -> SignedFacts {
    let files = holding(path, bytes)
    let hash = Digest.sha256(bytes)
    switch path {
    case .closing, .certificate:
      let id = try verifyStatement(path, bytes)
      return SignedFacts(counter: 0, hash: FileHash(storage: id.storage))
    case .link(let member, let id):
      _ = try verifyStatement(path, bytes)
      try requirePlace(of: id, in: member, bytes)
      return SignedFacts(counter: 0, hash: FileHash(storage: id.storage))
    case .epochWrap(_, let name):
      guard hash == name, bytes.count <= EpochWrapContext.fileLimit else {
        throw .damaged(path: path.string, reason: "its name is not that of what it holds")
      }
    case .wrap(let person, let closing, let device):
      try verifyWrap(path, bytes, of: person, closing, for: device)
    case .introduction(let person):
      _ = try IntroductionBody.load(person, files: files, people: people)
    case .deviceRequest(let person, let device):
      guard people[person] != nil else {
        throw .damaged(path: path.string, reason: "its person is not in this vault")
      }
      _ = try DeviceRequestBody.load(device, person: person, files: files)
    case .device(let person, let device):
      let body = try verifyDevice(device, person: person, files: files)
      return SignedFacts(
        counter: body.counter, hash: hash, previous: body.previous,
        unchangedSince: body.unchangedSince == 0 ? nil : body.unchangedSince)
    case .memberRoot(let member):
      _ = try MemberRoot.load(
        member, files: files, people: people, memory: linkMemory(of: member))
    case .head(let member, let device):
      let head = try judge(member, device, in: files)
      try head.requireCounting()
      return SignedFacts(head)
    case .auditSegment(let device, let first):
      try AuditSegmentBody.load(device, first: first, files: files, people: people)
    case .vault, .object:
      throw .damaged(path: path.string, reason: "it is not a signed file")
    }
    return SignedFacts(counter: 0, hash: hash, previous: nil)
  }

  /// Whether the file that stands in the store at `path` counts, and what it says; nil when there is none.
  package func verifyStored(_ path: VaultPath) throws(VaultError) -> SignedFacts? {
    let bytes: [UInt8]
    do {
      bytes = try store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return nil }
      throw VaultError(error)
    }
    return try verify(path, bytes)
  }

  /// The files with these bytes at `path`, whatever stands there.
  func holding(_ path: VaultPath, _ bytes: [UInt8]) -> SignedFiles {
    // On top of the others: a copy of them would cost as much as they are many.
    var store = OverlayStore(store)
    store.add(BlobPath(path.string), bytes)
    return SignedFiles(store: store, binding: files.binding)
  }

  /// The links of a member as the tree has them, by which every head of it is judged.
  func links(of member: MemberID) throws(VaultError) -> MemberLinks {
    if let known = judged[member] { return known }
    let links = try LinkReading(
      member: member, store: store, files: files, people: people,
      memory: try linkMemory(of: member)
    ).run()
    judged[member] = links
    return links
  }

  private func linkMemory(of member: MemberID) throws(VaultError) -> LinkMemory {
    try state?.loadLinkMemory(of: member) ?? LinkMemory()
  }

  /// Those of the wraps that are of epochs which are over, and stay where they are: nobody brings one to where it is not.
  /// But a machine that has not opened the member takes what there is, as a head may still be of such an epoch.
  ///
  /// - Parameter isGone: Whether the other side had one and has it no more: who removed it may know better what is over.
  package func wrapsThatStay(
    among paths: Set<VaultPath>, here: Set<VaultPath>, isGone: (VaultPath) -> Bool
  ) throws(VaultError) -> Set<VaultPath> {
    var found: Set<VaultPath> = []
    for path in paths {
      guard case .epochWrap(let member, _) = path else { continue }
      do {
        let links = try links(of: member)
        guard links.wrapsThatAreOver.contains(path) else {
          if isGone(path), links.wrapsThatMayBeOver.contains(path) { found.insert(path) }
          continue
        }
      } catch {
        guard error.isOfBrokenFile else { throw error }
        // A member whose root does not hold has no links that count.
        continue
      }
      if !here.contains(path) {
        let memory = try state?.loadLinkMemory(of: member)
        if memory?.files.isEmpty ?? true { continue }
      }
      found.insert(path)
    }
    return found
  }

  /// A link of someone who has no place among the owners, and gives nothing up, is nothing that is carried, unless one that
  /// is follows it: an agreement is written by somebody who has no place yet, and without it what follows waits, though it
  /// may be the true end of a contested place.
  private func requirePlace(
    of id: StatementID, in member: MemberID, _ bytes: [UInt8]
  ) throws(VaultError) {
    var tree = self
    if try links(of: member).history.verdict(on: id) == nil {
      // It may stand in the store all the same, if another process has put it there since the links were read.
      var store = store
      store.add(BlobPath(VaultPath.link(member, id).string), bytes)
      tree = try holding(store)
    }
    let links = try tree.links(of: member)
    guard links.history.verdict(on: id) == .noPlace, !links.lasting.contains(id) else { return }
    throw .damaged(
      path: VaultPath.link(member, id).string,
      reason: .broken(MemberLinks.byNoOwner))
  }

  /// The epochs that count of a member.
  package func epochs(of member: MemberID) throws(VaultError) -> Set<StatementID> {
    Set(try links(of: member).trust.epochs.ranking)
  }

  /// The links of a member that end the tenures of places; none where its root does not hold.
  package func ends(in member: MemberID) throws(VaultError) -> [StatementID] {
    do { return try links(of: member).history.ends } catch {
      guard error.isOfBrokenFile else { throw error }
      return []
    }
  }

  /// Whether a link's file begins an epoch, or follows one that does and is not among these. Where the member's root does
  /// not hold nothing does: anybody can put a link into the folder of a member that there is not.
  package func beginsEpoch(
    _ member: MemberID, _ id: StatementID, besides known: Set<StatementID>
  ) throws(VaultError) -> Bool {
    try ifWhole(links(of: member).history.follows(id, anEpochBesides: known)) ?? false
  }

  /// Whether an owner's device may have to write a link: access that was given until a date has ended, somebody has a
  /// key and no access, or access and no key.
  ///
  /// - Parameter now: Milliseconds since 1970.
  package func mayOweEpoch(to member: MemberID, now: UInt64) throws(VaultError) -> Bool {
    // In what does not hold nobody owes anything.
    guard let links = try ifWhole(self.links(of: member)) else { return false }
    guard let current = links.trust.epochs.current else { return true }
    return !(links.trust.epochs.unwrapped[current] ?? []).isEmpty
      || links.access.entitlements.keys.contains { links.hasEnded(for: $0, now: now) }
  }

  /// Which key the head says it is sealed with; nothing is verified.
  package func keyID(ofHead path: VaultPath, _ bytes: [UInt8]) -> KeyID? {
    shownHead(path, bytes)?.keyID
  }

  /// Of which epoch the head says it is; nothing is verified.
  func epoch(ofHead path: VaultPath, _ bytes: [UInt8]) -> StatementID? {
    shownHead(path, bytes)?.epoch
  }

  /// Where a head that cannot be judged says that it stands among those of its device; nil where it names keys of its person that
  /// are not here: what begins them may leave out any device that is made before it has come. Nothing is verified.
  package func place(ofHead path: VaultPath, _ bytes: [UInt8]) -> SignedFacts? {
    guard let head = shownHead(path, bytes), people.trust.device(head.certificate) == .counts
    else { return nil }
    if let generation = head.generation, people.trust.statements.closings[generation] == nil {
      return nil
    }
    return SignedFacts(
      counter: head.counter, hash: Digest.sha256(bytes), previous: head.previous)
  }

  /// Whether the machine of a person's device was another one of theirs before, which it has parted from.
  package func hasBecome(
    _ new: DeviceID, from old: DeviceID, of person: PersonID
  ) -> Bool {
    guard let person = people[person] else { return false }
    return people.leads(from: new, to: old, of: person) { $0 }
  }

  private func shownHead(_ path: VaultPath, _ bytes: [UInt8]) -> HeadFile? {
    guard case .head(let member, let device) = path else { return nil }
    do {
      return try holding(path, bytes).loadHeadWithoutVerifying(of: device, in: member).body
    } catch {
      // What is no head says nothing; `verify` says what is wrong with it.
      return nil
    }
  }

  /// The id of a closing, certificate or link that is sound and stands where it belongs.
  func verifyStatement(
    _ path: VaultPath, _ bytes: [UInt8]
  ) throws(VaultError) -> StatementID {
    guard let label = path.statementLabel else {
      preconditionFailure("only statements are verified as such")
    }
    do throws(TrustError) {
      let file = StatementFile(label, bytes)
      let id = try people.trust.statements.verify(file).id
      guard try file.place(in: files.binding.vault) == path.statementPlace else {
        throw .contradiction("its name is not that of what it says")
      }
      return id
    } catch {
      throw .damaged(path: path.string, reason: "\(error)")
    }
  }

  /// Whether it is a wrap of keys, or for a device, that are not known here. A change of keys that was cut short has left it, or
  /// it has come before its closing: nobody misses anything.
  package func isWrapOfUnknownKeys(_ path: VaultPath) -> Bool {
    guard case .wrap(let person, let closing, let device) = path else { return false }
    guard let known = people[person] else { return true }
    return known.history.valid[closing] == nil || known.anyCertificate(of: device) == nil
  }

  /// A wrap has no signature: only that it is for a device and a generation which are known can be seen, and by the device
  /// itself whether it opens.
  private func verifyWrap(
    _ path: VaultPath, _ bytes: [UInt8], of person: PersonID, _ closing: StatementID,
    for device: DeviceID
  ) throws(VaultError) {
    guard !isWrapOfUnknownKeys(path), let known = people[person] else {
      throw .damaged(
        path: path.string, reason: "the keys or the device that it is for are not known here")
    }
    do { try MasterKey.requireWrap(bytes) } catch {
      throw VaultError(error, path: path.string)
    }
    try opener?.requireWhole(bytes, of: closing, for: device, of: known)
  }

  private func verifyDevice(
    _ device: DeviceID, person: PersonID, files: SignedFiles
  ) throws(VaultError) -> DeviceBody {
    let (body, file) = try files.loadRegisterWithoutVerifying(of: device, person: person)
    let certificate = try people.certificate(of: device, person: person, path: file.path)
    try file.verify(.deviceRegister, publicKey: certificate.signingKey.bytes)
    return body
  }
}

/// The links of members that were judged once, shared by the copies of one tree.
private final class JudgedMembers: Sendable {
  private let known = Guarded<[MemberID: MemberLinks]>([:])

  subscript(member: MemberID) -> MemberLinks? {
    get { known.withLock { $0[member] } }
    set { known.withLock { $0[member] = newValue } }
  }
}

extension VaultPath {
  /// Written once, and never replaced.
  package var isStatement: Bool {
    switch self {
    case .closing, .certificate, .wrap, .introduction, .memberRoot, .link, .epochWrap,
      .deviceRequest:
      true
    case .vault, .device, .head, .object, .auditSegment: false
    }
  }
}
