import BlobStore
import Synchronization
import VaultCrypto
import VaultModel
import VaultTrust

/// What a signed file says of itself, once it is verified.
package struct SignedFacts: Hashable, Sendable {
  /// Of a register; 0 for a statement.
  package var counter: UInt64
  /// Of the whole file; of a closing or certificate its id, which is the same in every envelope.
  package var hash: FileHash
  /// Of the register that this one replaced.
  package var previous: FileHash?
  /// Of a statement of which two may hold: the greater one counts.
  package var rank: StatementRank?
}

extension SignedFacts {
  /// Whether, of two statements at one path which both hold, this is the one that counts.
  package func outranks(_ other: SignedFacts) -> Bool {
    guard let rank, let otherRank = other.rank else { return false }
    return rank == otherRank ? hash > other.hash : rank > otherRank
  }
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
  // Which epoch of each member was current on this machine before, and what counted of people.
  private let seen: Watermarks
  private let memory: PeopleMemory
  private let chains = GrantChains()

  /// - Parameters:
  ///   - seen: What this machine has seen; without it, the epochs alone decide which one is current.
  ///   - memory: What counted of people on this machine before.
  /// - Throws: `io` and the like when the people cannot be listed; a broken file of one hides only that one.
  package init(
    vault: VaultID, store: any BlobStore, seen: Watermarks = Watermarks(),
    memory: PeopleMemory = PeopleMemory()
  ) throws(VaultError) {
    try self.init(
      store: OverlayStore(store), binding: Binding(vault: vault), seen: seen, memory: memory)
  }

  private init(
    store: OverlayStore, binding: Binding, seen: Watermarks, memory: PeopleMemory
  ) throws(VaultError) {
    self.store = store
    self.seen = seen
    self.memory = memory
    files = SignedFiles(store: store, binding: binding)
    people = try People.load(store: store, files: files, memory: memory)
  }

  /// Whether the device was left out by whoever certified it: what it signs counts no more.
  package func isFormer(_ device: DeviceID) -> Bool { people.isFormer(device) }

  /// When the person removed the device, in milliseconds since 1970; nil if they did not.
  package func removal(of device: DeviceID, from person: PersonID) -> UInt64? {
    people[person]?.removal(of: device)
  }

  /// How many people have keys that count.
  package var personCount: Int { people.persons.count }

  /// The tree with these files, which may be anything: what does not verify changes nothing.
  ///
  /// A statement that is here already stays, unless the new one outranks it.
  package func adding(_ new: [VaultPath: [UInt8]]) throws(VaultError) -> SignedTree {
    var store = store
    var rivals: [VaultPath: [UInt8]] = [:]
    for (path, bytes) in new {
      let blobPath = BlobPath(path.string)
      switch path {
      case .closing, .certificate, .wrap, .introduction, .memberRoot, .grant, .leaving,
        .deviceRequest:
        guard try storing({ () throws(BlobStoreError) in try store.size(of: blobPath) }) == nil
        else {
          rivals[path] = bytes
          continue
        }
        store.add(blobPath, bytes)
      case .vault, .device, .head, .object, .auditSegment: continue
      }
    }
    let tree = try SignedTree(
      store: store, binding: files.binding, seen: seen, memory: memory)
    var hasGreater = false
    for (path, bytes) in rivals where try tree.isOutranked(path, by: bytes) {
      store.add(BlobPath(path.string), bytes)
      hasGreater = true
    }
    guard hasGreater else { return tree }
    return try SignedTree(store: store, binding: files.binding, seen: seen, memory: memory)
  }

  /// Whether these bytes hold at the path of a statement, and count before what stands there, which may be broken.
  func isOutranked(_ path: VaultPath, by bytes: [UInt8]) throws(VaultError) -> Bool {
    do throws(VaultError) {
      let new = try verify(path, bytes)
      do throws(VaultError) {
        guard let known = try verifyStored(path) else { return true }
        return new.outranks(known)
      } catch {
        guard case .damaged = error else { throw error }
        return true
      }
    } catch {
      switch error {
      case .damaged, .missing: return false
      default: throw error
      }
    }
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
      return SignedFacts(counter: body.counter, hash: hash, previous: body.previous)
    case .memberRoot(let member):
      _ = try MemberRoot.load(member, files: files, people: people)
    case .grant(let member, let epoch, let person):
      let chain =
        try isStored(path, hash) ? grants(of: member) : loadGrants(of: member, files: files)
      guard let grant = chain.valid[epoch]?[person] else {
        let problem = chain.problems.first { $0.path == path.string }
        throw .damaged(path: path.string, reason: problem?.reason ?? "it does not count")
      }
      return SignedFacts(
        counter: 0, hash: hash, previous: nil, rank: StatementRank(grant, in: chain.epochs))
    case .leaving(let person, let member, let epoch):
      let leaving = try LeavingBody.load(
        person, member, epoch, files: files, people: people
      ).body
      return SignedFacts(counter: 0, hash: hash, previous: nil, rank: StatementRank(leaving))
    case .head(let member, let device):
      let chain = try grants(of: member)
      let (body, _) = try HeadBody.load(
        member, device, files: files, people: people, grants: chain)
      return SignedFacts(counter: body.counter, hash: hash, previous: body.previous)
    case .auditSegment(let device, let first):
      try AuditSegmentBody.load(device, first: first, files: files, people: people)
    case .vault, .object:
      throw .damaged(path: path.string, reason: "it is not a signed file")
    }
    return SignedFacts(counter: 0, hash: hash, previous: nil)
  }

  /// The same for the file that stands in the store; nil when there is none.
  package func verifyStored(_ path: VaultPath) throws(VaultError) -> SignedFacts? {
    let bytes: [UInt8]
    do {
      bytes = try store.read(BlobPath(path.string), limit: SignedFiles.sizeLimit)
    } catch {
      if case .notFound = error { return nil }
      throw VaultError(error)
    }
    return try verify(path, bytes)
  }

  /// The files with these bytes at `path`, whatever stands there.
  func holding(_ path: VaultPath, _ bytes: [UInt8]) -> SignedFiles {
    var store = store
    store.add(BlobPath(path.string), bytes)
    return SignedFiles(store: store, binding: files.binding)
  }

  /// The grants of a member as the tree has them, which every head and grant of it is judged by.
  private func grants(of member: MemberID) throws(VaultError) -> GrantChain {
    if let known = chains[member] { return known }
    let chain = try loadGrants(of: member, files: files)
    chains[member] = chain
    return chain
  }

  private func isStored(_ path: VaultPath, _ hash: FileHash) -> Bool {
    do throws(VaultError) { return try files.load(path).hash == hash } catch { return false }
  }

  private func loadGrants(
    of member: MemberID, files: SignedFiles
  ) throws(VaultError) -> GrantChain {
    let root = try MemberRoot.load(member, files: files, people: people)
    return try GrantChain.load(
      member: member, creator: root.person, seen: seen.epoch(of: member), store: files.store,
      files: files, people: people)
  }

  /// The member's valid epochs.
  package func epochs(of member: MemberID) throws(VaultError) -> Set<EpochID> {
    Set(try grants(of: member).valid.keys)
  }

  /// Whether an owner's device may have to begin an epoch: access that was given until a date has ended, or was given
  /// up, someone's keys are newer than those that a grant is for, two owners began one at once, or it was begun without
  /// a grant.
  ///
  /// - Parameter now: Milliseconds since 1970.
  package func mayOweEpoch(to member: MemberID, now: UInt64) throws(VaultError) -> Bool {
    let chain = try grants(of: member)
    guard let outcome = chain.outcome else { return false }
    return !outcome.besides.isEmpty || !chain.leavings.counting.isEmpty
      || !chain.overlooked(by: now).isEmpty
      || chain.currentGrants.contains { grant in
        grant.hasEnded(by: now) || people.hasNewKeys(since: grant)
      }
  }

  /// Which key the head says it is sealed with; nothing is verified.
  package func keyID(ofHead path: VaultPath, _ bytes: [UInt8]) -> KeyID? {
    do throws(VaultError) {
      return try holding(path, bytes).load(path).decode(HeadBody.init(decoding:)).keyID
    } catch {
      return nil
    }
  }

  /// Whether the head is of someone who could write the member once and may no more: it counts for nothing, and
  /// nobody is to be blamed for it.
  package func isOfFormerWriter(_ path: VaultPath, _ bytes: [UInt8]) throws(VaultError) -> Bool {
    guard case .head(let member, let device) = path else { return false }
    let files = holding(path, bytes)
    do throws(VaultError) {
      let chain = try grants(of: member)
      let body = try HeadBody.loadOfAnyone(member, device, files: files, people: people).body
      return !chain.mayWrite(body.person) && chain.couldWrite(body.person)
    } catch {
      switch error {
      case .damaged, .missing, .signedByRemovedDevice: return false
      default: throw error
      }
    }
  }

  /// The id of a closing or certificate that is sound and stands where it belongs.
  private func verifyStatement(
    _ path: VaultPath, _ bytes: [UInt8]
  ) throws(VaultError) -> StatementID {
    guard let label = path.statementLabel else {
      preconditionFailure("only statements of people are verified as such")
    }
    do throws(TrustError) {
      let (id, person) = try people.trust.statements.verify(StatementFile(label, bytes))
      switch path {
      case .closing(person, id), .certificate(person, id): return id
      default: throw .contradiction("its name is not that of what it says")
      }
    } catch {
      throw .damaged(path: path.string, reason: "\(error)")
    }
  }

  /// A wrap has no signature: only that it is for a device and a generation which are known can be seen.
  private func verifyWrap(
    _ path: VaultPath, _ bytes: [UInt8], of person: PersonID, _ closing: StatementID,
    for device: DeviceID
  ) throws(VaultError) {
    guard let known = people[person], known.history.valid[closing] != nil,
      known.anyCertificate(of: device) != nil
    else {
      throw .damaged(path: path.string, reason: "its generation or its device is not known here")
    }
    guard WrappedMasterKey(file: bytes) != nil else {
      throw .damaged(path: path.string, reason: "it has \(bytes.count) bytes")
    }
  }

  private func verifyDevice(
    _ device: DeviceID, person: PersonID, files: SignedFiles
  ) throws(VaultError) -> DeviceBody {
    let path = VaultPath.device(person, device)
    let file = try files.load(path)
    let body = try file.decode(DeviceBody.init(decoding:))
    guard body.person == person, body.device == device else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    let certificate = try people.certificate(
      of: device, person: person, path: path)
    try file.verify(.device, publicKey: certificate.signingKey.bytes)
    return body
  }
}

/// The grants of members that were read once, shared by the copies of one tree.
private final class GrantChains: Sendable {
  private let known = Mutex<[MemberID: GrantChain]>([:])

  subscript(member: MemberID) -> GrantChain? {
    get { known.withLock { $0[member] } }
    set { known.withLock { $0[member] = newValue } }
  }
}
