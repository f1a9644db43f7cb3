import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultTrust

/// What both sides show before anything of it is verified, and what of strangers is set aside.
struct Sight: Sendable {
  /// The remote, as if what is left of strangers were not there.
  var look: RemoteLook
  var local: LocalLook
  /// What of strangers is taken, and what is left.
  var cargo: Cargo
  /// Files of the remote that do not hold, as an earlier sync found: `look` is without them.
  var knownBroken: [VaultPath: RemoteMemory.Broken] = [:]
}

/// The signed files of both sides as `SignedJudging` has judged them.
struct JudgedFiles: Sendable {
  /// The tree as it would be with what the remote shows.
  var tree: SignedTree
  /// What is here, verified. A broken file has none, and is noted.
  var here: [VaultPath: SignedFacts] = [:]
  /// What the remote shows, verified.
  var there: [VaultPath: RegisterState] = [:]
  /// Files of the remote that are there and do not hold.
  var broken: Set<VaultPath> = []
  /// Those of them that may be newer than what is here: their device has counted further in them, and they may wait for what
  /// has not come yet; or they could not be read just now.
  var maybeNewer: Set<VaultPath> = []
  /// This device's own heads among these that an earlier sync could not judge either, with what they say of themselves; only
  /// where every folder is looked into.
  var ownThatStays: [VaultPath: SignedFacts] = [:]
  /// Those of them, and of `former`, that were read now, with what is told of them.
  var failures: [VaultPath: SyncProblem?] = [:]
  /// Files here that do not hold.
  var brokenHere: Set<VaultPath> = []
  /// Those of them in whose place what the remote shows is put: it holds, and nothing can be newer that they are.
  var replaced: Set<VaultPath> = []
  /// Heads of people whose access was taken away, which count for nothing, and what is left since nobody stands for it: they
  /// stand where they stand.
  var former: Set<VaultPath> = []
  /// Files of the remote that were not read, since there are too many that are news: nothing is said of them, nor done.
  var unread: Set<VaultPath> = []
  /// Heads of the remote that could not be read just now.
  var failedHeads: Set<VaultPath> = []
  /// Wraps of epochs that are over, or may be so for others, which one side lacks and does not get.
  var staying: Set<VaultPath> = []
  /// What was read of the remote on the way.
  var bytes: [VaultPath: [UInt8]] = [:]
  /// Of these, what those say that hold.
  var facts: [VaultPath: SignedFacts] = [:]
}

/// What this machine knew of registers when a sync began to judge.
struct KnownRegisters: Sendable {
  /// The newest that it has seen anywhere.
  let marks: [VaultPath: RegisterState]
  /// What the remote showed or took before.
  let shown: [VaultPath: RegisterState]

  init(marks: Watermarks, shown: [VaultPath: RemoteMemory.Seen]) {
    self.marks = Dictionary(
      marks.marks.map { ($0.path, RegisterState(counter: $0.counter, hash: $0.hash)) },
      uniquingKeysWith: { first, _ in first })
    self.shown = shown.mapValues(\.state)
  }
}

/// What a sync knows of the signed files of both sides once they are judged, and the plan for each: a value to be asked.
final class SignedExchange: Sendable {
  let session: SyncSession
  let look: RemoteLook
  let local: LocalLook
  let cargo: Cargo
  let judged: JudgedFiles
  private let known: KnownRegisters
  private let device: DeviceID
  private let paths: [VaultPath.Owner: Set<VaultPath>]

  var tree: SignedTree { judged.tree }
  var here: [VaultPath: SignedFacts] { judged.here }
  var there: [VaultPath: RegisterState] { judged.there }
  var broken: Set<VaultPath> { judged.broken }
  var former: Set<VaultPath> { judged.former }

  /// What the remote showed or took before.
  var shownBefore: [VaultPath: RegisterState] { known.shown }

  /// Whether this machine has become another device since: what that has signed cannot be judged by what was read here.
  var isOfFormerDevice: Bool { device != session.home.device }

  init(session: SyncSession, sight: Sight, judged: JudgedFiles, known: KnownRegisters) {
    self.session = session
    (look, local, cargo) = (sight.look, sight.local, sight.cargo)
    self.judged = judged
    device = session.home.device
    self.known = known
    var paths: [VaultPath.Owner: Set<VaultPath>] = [:]
    for path in local.files { paths[path.owner, default: []].insert(path) }
    for path in look.files.keys { paths[path.owner, default: []].insert(path) }
    for path in known.shown.keys where path.isHead { paths[path.owner, default: []].insert(path) }
    self.paths = paths
  }

  // MARK: Plans

  /// What is to be done about a register.
  func plan(_ path: VaultPath) -> RegisterPlan { plan(path, here: here[path]) }

  /// What is to be done about a register, given what stands here by now.
  func plan(_ path: VaultPath, here facts: SignedFacts?) -> RegisterPlan {
    if staysBroken(path) || judged.unread.contains(path) { return RegisterPlan(.leave) }
    if judged.maybeNewer.contains(path) { return RegisterPlan(.leave) }
    if broken.contains(path) {
      // What does not hold is replaced by what is here, if there is something.
      return RegisterPlan(facts != nil && session.options.repairsRemote ? .put : .leave)
    }
    if wasShownAndMayBeThere(path) { return RegisterPlan(.leave) }
    let own = facts.map { RegisterState(counter: $0.counter, hash: $0.hash) }
    var plan = RegisterPlan(
      RegisterSituation(
        local: own, remote: there[path], mark: known.marks[path],
        // What counts for nothing any more is no state that it could go back from.
        shown: former.contains(path) ? nil : known.shown[path],
        previous: facts?.previous, isOwn: isOwn(path), hasLines: path.isHead,
        unchangedSince: session.joinsLogs ? nil : facts?.unchangedSince))
    let didGoBack = plan.findings.contains { if case .wentBack = $0 { true } else { false } }
    if didGoBack, !session.options.repairsRemote { plan.action = .leave }
    return plan
  }

  /// Whether both sides show the same register, and nothing newer was ever seen.
  func isSettled(_ path: VaultPath) -> Bool {
    let counter = here[path]?.counter ?? 0
    return plan(path) == RegisterPlan(.leave) && counter >= known.marks[path]?.counter ?? 0
  }

  /// Whether a head of a member that this device has written is not here any more: an open vault puts it back, or says what is lost.
  var lacksOwnHead: Bool {
    known.marks.contains { path, mark in
      guard case .head(let member, _) = path, isOwn(path), mark.counter > 0 else { return false }
      return local.members.contains(member) && !local.files.contains(path)
    }
  }

  /// Whether the register here is newer by its counter, and there is nothing else to be said or done about it.
  func isNewerHere(_ path: VaultPath) -> Bool {
    guard let counter = here[path]?.counter else { return false }
    let plan = plan(path)
    return plan.findings.isEmpty && (plan.action == .put || plan.action == .compare)
      && counter >= known.marks[path]?.counter ?? 0
  }

  /// Whether who cannot read a head puts the one here on the remote: the counters alone decide, but this device's own, and that
  /// of the one that its machine was, replaces only what it is known to go on from.
  func isPutWithoutKeys(_ path: VaultPath) -> Bool {
    switch plan(path).action {
    case .put: true
    case .compare: !isOwn(path) && !session.home.wasDevice(of: path, tree)
    case .leave, .take: false
    }
  }

  /// Whether a file here does not hold, and nothing that does is to be put in its place: it may be newer than what the remote
  /// shows, and wait for something else.
  private func staysBroken(_ path: VaultPath) -> Bool {
    judged.brokenHere.contains(path) && !judged.replaced.contains(path)
  }

  /// A list that broke off says of nothing that it is gone.
  private func wasShownAndMayBeThere(_ path: VaultPath) -> Bool {
    look.mayHide(path) && known.shown[path] != nil
  }

  private func isOwn(_ path: VaultPath) -> Bool {
    path.registerDevice == session.home.device
  }

  func note(_ plan: RegisterPlan, _ path: VaultPath) {
    for finding in plan.findings {
      session.note(SyncProblem(finding, path: path, action: plan.action))
    }
  }

  func plan(statement path: VaultPath) -> StatementPlan {
    if staysBroken(path) || judged.unread.contains(path) || judged.staying.contains(path) {
      return .leave
    }
    if broken.contains(path) {
      return here[path] != nil && session.options.repairsRemote ? .put : .leave
    }
    if wasShownAndMayBeThere(path) { return .leave }
    return StatementPlan(local: here[path], remoteHash: there[path]?.hash)
  }

  /// Whether a copy of this machine has written the register of this device too, with the counter of what is here.
  var isOwnRegisterForked: Bool {
    plan(.device(session.home.person, session.home.device)).isForked
  }

  /// Every head of a member that is here, is there, or was there; none when they could not be listed, since then
  /// nothing can be judged.
  func heads(of member: MemberID) -> [VaultPath] {
    if look.givenUp.contains(member) { return [] }
    return (paths[.member(member)] ?? []).filter { path in
      path.isHead && !former.contains(path) && !isRetired(path)
    }.sortedByText
  }

  /// Whether the remote has a head of the member that could not be read just now.
  func hasFailedHead(of member: MemberID) -> Bool {
    judged.failedHeads.contains { path in
      if case .head(member, _) = path { true } else { false }
    }
  }

  /// The signed files of somebody's folder that are here, are there, or were there.
  func files(of owner: VaultPath.Owner) -> Set<VaultPath> { paths[owner] ?? [] }

  /// Whether somebody whom the person does not know is carried as one of a member's people.
  func vouchesForFolder(of person: PersonID, _ known: Vouching) throws(SyncError) -> Bool {
    let (tree, members) = (tree, local.members)
    return try keeping(tree.extending(known, by: members).carries(person))
  }

  /// When this machine's device was removed, as either side shows; nil if it was not.
  var removal: UInt64? { tree.removal(of: session.home.device, from: session.home.person) }

  /// - Throws: `thisDeviceRemoved` in `vault` when this machine's device was, as either side shows.
  func requireNotRemoved() throws(SyncError) {
    if let removal { throw .vault(.thisDeviceRemoved(time: removal)) }
  }

  /// Whether a file is the register of a device that was removed.
  func isRetired(_ path: VaultPath) -> Bool { tree.isRetired(path) }

  /// Whether a member's root and this device's own head, as they are here, hold: without them nothing of the member is
  /// carried. Any other file that does not hold is told and stays where it is: whoever can write to the folder could keep
  /// the member's news from everybody else by one.
  func isCarried(_ member: MemberID) -> Bool {
    !judged.brokenHere.contains(.memberRoot(member))
      && !judged.brokenHere.contains(.head(member, session.home.device))
  }

  /// Whether all signed files of a member that are here hold: else a sync of heads alone leaves it to the whole one.
  func isWholeHere(_ member: MemberID) -> Bool {
    !judged.brokenHere.contains { $0.owner == .member(member) }
  }
}

extension Sequence<VaultPath> {
  /// In the order of their texts, each of which is made once.
  fileprivate var sortedByText: [VaultPath] {
    map { (path: $0, text: $0.string) }.sorted { $0.text < $1.text }.map(\.path)
  }
}
