import BlobStore
import Synchronization
import VaultCrypto
import VaultModel

/// What a signed file says of itself, once it is verified.
package struct SignedFacts: Hashable, Sendable {
  /// Of a register; 0 for a statement.
  package var counter: UInt64
  /// Of the whole file.
  package var hash: FileHash
  /// Of the register that this one replaced.
  package var previous: FileHash?
  /// Of an identity: how many root keys its person has had.
  package var rootCount = 0
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
  // Which epoch of each member was current on this machine before.
  private let seen: Watermarks
  private let chains = GrantChains()

  /// - Parameter seen: What this machine has seen; without it, the epochs alone decide which one is current.
  /// - Throws: `io` and the like when the people cannot be listed; a broken file of one hides only that one.
  package init(
    vault: VaultID, store: any BlobStore, seen: Watermarks = Watermarks()
  ) throws(VaultError) {
    try self.init(store: OverlayStore(store), binding: Binding(vault: vault), seen: seen)
  }

  private init(store: OverlayStore, binding: Binding, seen: Watermarks) throws(VaultError) {
    self.store = store
    self.seen = seen
    files = SignedFiles(store: store, binding: binding)
    people = try People.load(store: store, files: files)
  }

  /// The devices that their persons removed.
  package var removedDevices: Set<DeviceID> { people.removedDevices }

  /// When the device was removed by its person; nil if it was not.
  package func removal(of device: DeviceID) -> RemovedDevice? {
    people.persons.values.first { $0.former[device] != nil }?.removal(of: device)
  }

  /// Whether these bytes are an identity of the device's person beside the one here: one person has changed keys on two
  /// machines that had not met. Docs/Format.md, "Two changes of keys".
  package func isDivided(_ path: VaultPath, _ bytes: [UInt8], of device: DeviceID) -> Bool {
    guard case .identity(let person) = path, let known = people[person],
      known.certificates[device] != nil || known.former[device] != nil
    else { return false }
    do throws(VaultError) {
      let (identity, _) = try People.loadIdentity(person, files: holding(path, bytes))
      return identity.isDivided(from: known.identity)
    } catch {
      // What does not hold is none.
      return false
    }
  }

  /// The tree with these files, which may be anything: what does not verify changes nothing.
  ///
  /// A statement that is here already stays, unless the new one outranks it; an identity is taken when it is valid, its counter is higher and its root
  /// keys go on from those that are known.
  package func adding(_ new: [VaultPath: [UInt8]]) throws(VaultError) -> SignedTree {
    var store = store
    var rivals: [VaultPath: [UInt8]] = [:]
    for (path, bytes) in new {
      let blobPath = BlobPath(path.string)
      switch path {
      case .identity(let person):
        do throws(VaultError) {
          let (identity, _) = try People.loadIdentity(person, files: holding(path, bytes))
          if let known = people[person]?.identity {
            guard identity.counter > known.counter, identity.succeeds(known) else { continue }
          }
          store.add(blobPath, bytes)
        } catch {
          // `verify` says what is wrong with it.
          continue
        }
      case .certificate, .introduction, .memberRoot, .grant, .leaving, .deviceRequest:
        guard try storing({ () throws(BlobStoreError) in try store.size(of: blobPath) }) == nil
        else {
          rivals[path] = bytes
          continue
        }
        store.add(blobPath, bytes)
      case .vault, .device, .head, .object, .auditSegment: continue
      }
    }
    let tree = try SignedTree(store: store, binding: files.binding, seen: seen)
    var hasGreater = false
    for (path, bytes) in rivals where try tree.isOutranked(path, by: bytes) {
      store.add(BlobPath(path.string), bytes)
      hasGreater = true
    }
    return hasGreater ? try SignedTree(store: store, binding: files.binding, seen: seen) : tree
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
    case .identity(let person):
      let (identity, _) = try People.loadIdentity(person, files: files)
      if let known = people[person]?.identity, !identity.succeeds(known),
        // Otherwise it is one of before, which the plan tells.
        !known.succeeds(identity) || identity.counter > known.counter
      {
        throw identity.replacedWords()
      }
      return SignedFacts(
        counter: identity.counter, hash: hash, previous: identity.previous,
        rootCount: identity.rootKeys.count)
    case .certificate(let person, let generation, let device):
      try verifyCertificate(device, person: person, generation: generation, files: files)
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
      _ = try MemberRootBody.load(member, files: files, people: people)
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
      let leaving = try LeavingBody.load(person, member, epoch, files: files, people: people)
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
    let root = try MemberRootBody.load(member, files: files, people: people)
    return try GrantChain.load(
      member: member, creator: root.creator, seen: seen.epoch(of: member), store: files.store,
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
        grant.hasEnded(by: now)
          || people[grant.person].map { $0.identity.generation > grant.personGeneration } ?? false
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

  private func verifyCertificate(
    _ device: DeviceID, person: PersonID, generation: UInt32, files: SignedFiles
  ) throws(VaultError) {
    let path = VaultPath.certificate(person, generation: generation, device)
    guard let known = people[person], let key = known.signingPublicKey(generation: generation)
    else { throw .damaged(path: path.string, reason: "its person is not in this vault") }
    _ = try People.loadCertificate(
      device, person: person, generation: generation, signingKey: key, files: files)
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
    try file.verify(.device, publicKey: certificate.signingPublicKey)
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
