import BlobStore
import Vault
import VaultModel
import VaultTrust

/// The signed files of both sides, verified: what each shows, and the bytes of what was read on the way.
///
/// Only what is new or changed on the remote, or not here, is read; of the rest this machine remembers what it was.
final class SignedExchange: Sendable {
  let session: SyncSession
  let look: RemoteLook
  let local: LocalLook
  /// What of strangers is taken, and what is left.
  let cargo: Cargo
  /// The tree as it would be with what the remote shows.
  let tree: SignedTree
  /// What is here, verified. A broken file has none, and is noted.
  let here: [VaultPath: SignedFacts]
  /// What the remote shows, verified.
  let there: [VaultPath: RegisterState]
  /// What the remote showed or took before.
  let shownBefore: [VaultPath: RegisterState]
  /// Files of the remote that are there and do not hold.
  let broken: Set<VaultPath>
  /// Those of them, and of `former`, that were read now, with what is told of them.
  let failures: [VaultPath: SyncProblem?]
  /// Whether a statement holds that neither was here nor was seen before.
  let hasNewStatements: Bool
  /// Files of the remote that were not read, since there are too many that are news: nothing is said of them, nor done.
  private let unread: Set<VaultPath>
  /// Files here that do not hold.
  let brokenHere: Set<VaultPath>
  /// Heads of people whose access was taken away: they count for nothing, and stand where they stand.
  let former: Set<VaultPath>
  private let facts: [VaultPath: SignedFacts]
  private let bytes: [VaultPath: [UInt8]]
  private let marks: [VaultPath: RegisterState]
  private let device: DeviceID
  private let paths: [VaultPath.Owner: Set<VaultPath>]

  /// Whether this machine has become another device since: what that has signed cannot be judged by what was read here.
  var isOfFormerDevice: Bool { device != session.home.device }

  /// - Parameters:
  ///   - ownTree: The folder here.
  ///   - knownBroken: Files of the remote that do not hold, and that `look` is without.
  init(
    session: SyncSession, look: RemoteLook, local: LocalLook, tree ownTree: SignedTree,
    cargo: Cargo, knownBroken: [VaultPath: RemoteMemory.Broken] = [:]
  ) throws(SyncError) {
    self.session = session
    let look = look.without(cargo.left, besides: local)
    self.look = look
    self.local = local
    self.cargo = cargo
    let home = session.home
    device = home.device
    let marks = try keeping { () throws(VaultError) in try home.state.watermarks() }
    let memory = session.memory
    shownBefore = memory.seen.mapValues(\.state)
    var paths: [VaultPath.Owner: Set<VaultPath>] = [:]
    for path in local.files { paths[path.owner, default: []].insert(path) }
    for path in look.files.keys { paths[path.owner, default: []].insert(path) }
    for path in shownBefore.keys where path.isHead { paths[path.owner, default: []].insert(path) }
    self.paths = paths
    let stored = try Self.verify(
      local.files.filter { !ownTree.isRetired($0) }, in: ownTree, session)
    let changed = look.files.filter { path, entry in
      // What is not here is read in any case: the rest may build on it.
      if memory.seen[path]?.fingerprint != entry.fingerprint || !local.files.contains(path) {
        return true
      }
      // Of two that differ one does not hold.
      return path.isStatement && memory.seen[path]?.state.hash != stored.facts[path]?.hash
    }
    let known = local.files
    let (bytes, unread) = try Self.read(
      changed.map { path, entry in
        (path: path, rank: (known.contains(path) ? 0 : 1, entry.size, path.string))
      }.sorted { $0.rank < $1.rank }.map(\.path), cargo, session)
    (self.bytes, self.unread) = (bytes, unread.union(cargo.left))
    let read = bytes
    let tree = try keeping { () throws(VaultError) in
      read.isEmpty ? ownTree : try ownTree.adding(read)
    }
    self.tree = tree
    brokenHere = stored.broken.filter { !tree.isRetired($0) }
    var here = stored.facts.filter { !tree.isRetired($0.key) }
    var former = stored.former.filter { !tree.isRetired($0) }
    if read.keys.contains(where: { if case .link = $0 { true } else { false } }) {
      // A new link may have taken access away from someone whose heads are here.
      for path in here.keys where try Self.isOfFormerWriter(path, in: tree, session) {
        here[path] = nil
        former.insert(path)
      }
    }
    self.here = here
    var facts: [VaultPath: SignedFacts] = [:]
    var there: [VaultPath: RegisterState] = [:]
    var broken = Set(changed.keys)
    var failures: [VaultPath: SyncProblem?] = [:]
    for (path, entry) in look.files where !former.contains(path) || read[path] != nil {
      if tree.isRetired(path) {
        broken.remove(path)
        guard read[path] != nil else { continue }
        session.note(.removedDevice(path))
        // So that it is told once.
        session.remember {
          $0.seen[path] = RemoteMemory.Seen(
            fingerprint: entry.fingerprint,
            state: RegisterState(counter: 0, hash: .zero))
        }
        continue
      }
      guard let bytes = read[path] else {
        if !broken.contains(path) { there[path] = memory.seen[path]?.state }
        continue
      }
      do throws(VaultError) {
        let found = try tree.verify(path, bytes)
        facts[path] = found
        there[path] = RegisterState(counter: found.counter, hash: found.hash)
        broken.remove(path)
        former.remove(path)
      } catch {
        let isFormer = try keeping { () throws(VaultError) in
          try tree.isOfFormerWriter(path, bytes)
        }
        guard isFormer else {
          let problem = SyncProblem(error, there: path.string)
          session.note(problem)
          failures[path] = problem
          continue
        }
        failures.updateValue(nil, forKey: path)
        former.insert(path)
        broken.remove(path)
      }
    }
    for (path, file) in knownBroken {
      if file.finding == nil { former.insert(path) } else { broken.insert(path) }
    }
    self.former = former
    self.facts = facts
    self.there = there
    self.broken = broken
    self.failures = failures
    hasNewStatements = facts.keys.contains { path in
      path.isStatement && !local.files.contains(path)
        && memory.seen[path]?.fingerprint != look.files[path]?.fingerprint
    }
    self.marks = Dictionary(
      marks.marks.map { ($0.path, RegisterState(counter: $0.counter, hash: $0.hash)) },
      uniquingKeysWith: { first, _ in first })
    rememberShown()
  }

  private static func verify(
    _ paths: Set<VaultPath>, in tree: SignedTree, _ session: SyncSession
  ) throws(SyncError) -> (
    facts: [VaultPath: SignedFacts], broken: Set<VaultPath>, former: Set<VaultPath>
  ) {
    var here: [VaultPath: SignedFacts] = [:]
    var broken: Set<VaultPath> = []
    var former: Set<VaultPath> = []
    for path in paths {
      do throws(VaultError) { here[path] = try tree.verifyStored(path) } catch {
        switch error {
        case .damaged, .missing:
          if try isOfFormerWriter(path, in: tree, session) {
            former.insert(path)
            continue
          }
          broken.insert(path)
          session.note(SyncProblem(error, here: path.string))
        default: throw .vault(error)
        }
      }
    }
    return (here, broken, former)
  }

  private static func isOfFormerWriter(
    _ path: VaultPath, in tree: SignedTree, _ session: SyncSession
  ) throws(SyncError) -> Bool {
    guard case .head = path else { return false }
    let bytes: [UInt8]
    do throws(BlobStoreError) {
      bytes = try session.home.store.read(
        BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      return false
    }
    return try keeping { () throws(VaultError) in try tree.isOfFormerWriter(path, bytes) }
  }

  /// Reads these, those first that are here as well, then the small ones, as far as they may be held unverified.
  private static func read(
    _ paths: [VaultPath], _ cargo: Cargo, _ session: SyncSession
  ) throws(SyncError) -> (bytes: [VaultPath: [UInt8]], unread: Set<VaultPath>) {
    let results = Gathered<(VaultPath, [UInt8])>()
    let unread = Gathered<VaultPath>()
    try session.forEach(paths) { (path) throws(SyncError) in
      if let known = cargo.read[path] { return results.add((path, known)) }
      let unverified = cargo.unverified
      let isRead = try unverified.take { () throws(SyncError) in
        try session.readSigned(path)
      } then: {
        results.add((path, $0))
      }
      if !isRead { unread.add(path) }
    }
    let left = Set(unread.all)
    if !left.isEmpty { session.note(.tooMuchNew(left.count, of: paths.count)) }
    return (Dictionary(results.all, uniquingKeysWith: { first, _ in first }), left)
  }

  /// What the remote shows counts as shown, but for what went back: of that the newest stays known.
  private func rememberShown() {
    session.remember { memory in
      for (path, state) in there where plan(path).action != .compare {
        if let known = memory.seen[path], known.state.counter > state.counter { continue }
        if let known = memory.seen[path], known.state.counter == state.counter, state.counter > 0,
          known.state.hash != state.hash
        {
          continue
        }
        memory.seen[path] = RemoteMemory.Seen(
          fingerprint: look.files[path]?.fingerprint, state: state)
      }
    }
  }

  // MARK: Plans

  /// What is to be done about a register.
  func plan(_ path: VaultPath) -> RegisterPlan { plan(path, here: here[path]) }

  /// The same with what is here by now.
  func plan(_ path: VaultPath, here facts: SignedFacts?) -> RegisterPlan {
    if brokenHere.contains(path) || unread.contains(path) { return RegisterPlan(.leave) }
    if broken.contains(path) {
      // What does not hold is replaced by what is here, if there is something.
      return RegisterPlan(facts != nil && session.options.repairsRemote ? .put : .leave)
    }
    let own = facts.map { RegisterState(counter: $0.counter, hash: $0.hash) }
    var plan = RegisterPlan(
      RegisterSituation(
        local: own, remote: there[path], mark: marks[path], shown: shownBefore[path],
        previous: facts?.previous, isOwn: isOwn(path)))
    let didGoBack = plan.findings.contains { if case .wentBack = $0 { true } else { false } }
    if didGoBack, !session.options.repairsRemote { plan.action = .leave }
    if plan.action == .compare, !path.isHead { plan.action = .put }
    return plan
  }

  /// Whether both sides show the same register, and nothing newer was ever seen.
  func isSettled(_ path: VaultPath) -> Bool {
    let counter = here[path]?.counter ?? 0
    return plan(path) == RegisterPlan(.leave) && counter >= marks[path]?.counter ?? 0
  }

  /// Whether the register here is newer by its counter, and there is nothing else to be said or done about it.
  func isNewerHere(_ path: VaultPath) -> Bool {
    guard let counter = here[path]?.counter else { return false }
    let plan = plan(path)
    return plan.findings.isEmpty && (plan.action == .put || plan.action == .compare)
      && counter >= marks[path]?.counter ?? 0
  }

  /// Whether who cannot read a head puts the one here on the remote: the counters alone decide, but this device's own
  /// replaces only what it is known to go on from.
  func isPutWithoutKeys(_ path: VaultPath) -> Bool {
    let action = plan(path).action
    return action == .put || action == .compare && !isOwn(path)
  }

  private func isOwn(_ path: VaultPath) -> Bool {
    switch path {
    case .head(_, let device), .device(_, let device): device == session.home.device
    default: false
    }
  }

  func note(_ plan: RegisterPlan, _ path: VaultPath) {
    for finding in plan.findings {
      session.note(SyncProblem(finding, path: path, action: plan.action))
    }
  }

  func plan(statement path: VaultPath) -> StatementPlan {
    if brokenHere.contains(path) || unread.contains(path) { return .leave }
    if broken.contains(path) {
      return here[path] != nil && session.options.repairsRemote ? .put : .leave
    }
    return StatementPlan(local: here[path], remoteHash: there[path]?.hash)
  }

  /// Every head of a member that is here, is there, or was there; none when they could not be listed, since then
  /// nothing can be judged.
  func heads(of member: MemberID) -> [VaultPath] {
    if look.givenUp.contains(member) { return [] }
    return (paths[.member(member)] ?? []).filter { path in
      path.isHead && !former.contains(path) && !isRetired(path)
    }.sortedByText
  }

  /// The signed files of somebody's folder that are here, are there, or were there.
  func files(of owner: VaultPath.Owner) -> Set<VaultPath> { paths[owner] ?? [] }

  /// Whether somebody whom the person does not know is carried as one of a member's people.
  func vouchesForFolder(of person: PersonID, _ known: Vouching) throws(SyncError) -> Bool {
    let (tree, members) = (tree, local.members)
    return try keeping { () throws(VaultError) in
      try tree.extending(known, by: members).carries(person)
    }
  }

  /// When this machine's device was removed, as either side shows; nil if it was not.
  var removal: UInt64? { tree.removal(of: session.home.device, from: session.home.person) }

  /// - Throws: `thisDeviceRemoved` in `vault` when this machine's device was, as either side shows.
  func requireNotRemoved() throws(SyncError) {
    if let removal { throw .vault(.thisDeviceRemoved(time: removal)) }
  }

  /// Whether a file is the register of a device that was removed.
  func isRetired(_ path: VaultPath) -> Bool { tree.isRetired(path) }

  /// Whether all signed files of a member that are here hold: what is broken is not carried on.
  func isWholeHere(_ member: MemberID) -> Bool {
    !brokenHere.contains { $0.owner == .member(member) }
  }

  // MARK: Bytes

  /// A file of the remote that holds, with what it says; nil when it cannot be had any more, which is noted.
  func fetched(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    if let bytes = bytes[path], let facts = facts[path] { return (bytes, facts) }
    guard let bytes = try session.readSigned(path) else { return nil }
    do throws(VaultError) { return (bytes, try tree.verify(path, bytes)) } catch {
      session.note(SyncProblem(error, there: path.string))
      return nil
    }
  }

  /// A file that is here, as it stands now, if it holds. One that holds by what has come here since is for the next sync;
  /// one that does not, by what the remote shows, stays where it is, and keeps nothing else from being sent.
  func stored(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    let bytes: [UInt8]
    do throws(BlobStoreError) {
      bytes = try session.home.store.read(
        BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return nil }
      throw .vault(VaultError(error))
    }
    do throws(VaultError) { return (bytes, try tree.verify(path, bytes)) } catch {
      guard error.isDamage else { throw .vault(error) }
      if try !holdsByNow(path, bytes) { session.note(SyncProblem(error, here: path.string)) }
      return nil
    }
  }

  private func holdsByNow(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) -> Bool {
    let home = session.home
    return try keeping { () throws(VaultError) in
      let now = try SignedTree(vault: home.id, store: home.store, state: home.state)
      do throws(VaultError) { _ = try now.verify(path, bytes) } catch {
        if error.isDamage { return false }
        throw error
      }
      return true
    }
  }
}

extension Sequence<VaultPath> {
  /// In the order of their texts, each of which is made once.
  fileprivate var sortedByText: [VaultPath] {
    map { (path: $0, text: $0.string) }.sorted { $0.text < $1.text }.map(\.path)
  }
}

extension VaultPath {
  fileprivate var isHead: Bool { if case .head = self { true } else { false } }
}

extension SignedTree {
  /// Whether a file is the register of a device that was removed: it is left as it is, on both sides.
  fileprivate func isRetired(_ path: VaultPath) -> Bool {
    switch path {
    case .head(_, let device), .device(_, let device): isFormer(device)
    default: false
    }
  }
}
