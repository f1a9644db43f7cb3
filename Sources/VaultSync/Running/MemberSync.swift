import BlobStore
import Vault
import VaultModel

/// Syncs one member in both directions. Trouble with it stays with it: the other members go on.
struct MemberSync {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: Vault
  let member: MemberID

  private enum Access {
    /// Its keys are here.
    case open(Member)
    case sealed
    /// It is not whole, here or there; it is left alone.
    case none
  }

  // MARK: Pull

  func pull() throws(SyncError) {
    let plans = plans()
    for (path, plan) in plans { exchange.note(plan, path) }
    let wanted = plans.filter { $0.plan.action == .take || $0.plan.action == .joinThenPut }
    guard !wanted.isEmpty else { return }
    switch access() {
    case .none:
      session.change { $0.untakenHeadCount += wanted.count }
    case .sealed:
      try SealedCarry(session: session, exchange: exchange, member: member).pull(
        wanted.filter { $0.plan.action == .take }.map(\.path), into: vault)
      try placeNewEpochs()
    case .open(let member):
      let devices = wanted.compactMap { path, plan -> (device: DeviceID, plan: RegisterPlan)? in
        guard case .head(_, let device) = path else { return nil }
        return (device, plan)
      }
      let count = try MemberPull(
        session: session, exchange: exchange, vault: vault, member: member
      ).run(devices)
      if count == 0 || session.options.isDryRun { return }
      try keeping { () throws(VaultError) in
        _ = try vault.refreshMembers()
        _ = try vault.member(member.id)?.joinConcurrent()
      }
    }
  }

  /// Of a member that this person cannot read, or not any more.
  private func placeNewEpochs() throws(SyncError) {
    let grants = try StatementSync(session: session, exchange: exchange).newEpochs(of: member)
    if grants.isEmpty || session.options.isDryRun { return }
    try keeping { () throws(VaultError) in
      try vault.place(grants)
      _ = try vault.refreshMembers()
    }
  }

  private func plans() -> [(path: VaultPath, plan: RegisterPlan)] {
    exchange.heads(of: member).map { ($0, exchange.plan($0)) }
  }

  private func access() -> Access {
    do throws(VaultError) {
      let member = try vault.receivingMember(member, in: exchange.tree)
      if let standstill = member.standstill {
        session.note(SyncProblem(standstill, here: "members/\(member.id.hex)"))
        return .none
      }
      return .open(member)
    } catch {
      switch error {
      case .noAccess, .accessEnded: return .sealed
      default:
        session.note(SyncProblem(error, here: "members/\(member.hex)"))
        return .none
      }
    }
  }

  // MARK: Push

  func push() throws(SyncError) {
    guard exchange.isWholeHere(member), !exchange.look.givenUp.contains(member) else { return }
    switch access() {
    case .none: return
    case .sealed:
      let paths = plans().filter { $0.plan.action == .put && exchange.here[$0.path] != nil }
      try SealedCarry(session: session, exchange: exchange, member: member).push(paths.map(\.path))
    case .open(let member): try push(member)
    }
  }

  private func push(_ member: Member) throws(SyncError) {
    // What another process of this device committed meanwhile is sent as well.
    try keeping { () throws(VaultError) in _ = try member.refresh() }
    let statements = StatementSync(session: session, exchange: exchange)
    var wanted: [OpenedHead] = []
    for head in member.openedHeads where try isPut(head) { wanted.append(head) }
    let push = MemberPush(
      session: session, exchange: exchange, member: member, isRepair: hasGoneBack)
    guard !wanted.isEmpty else { return try statements.push(member.id) }
    let whole = try push.bringObjects(wanted)
    try statements.push(member.id)
    // So that no loss of power leaves a head without what it names.
    try session.flush()
    try push.put(whole)
    try removeOldObjects(of: member)
  }

  /// Removes from the remote what was sealed in older epochs and is gone here, once no head there may need it.
  private func removeOldObjects(of member: Member) throws(SyncError) {
    guard let name = session.name else { return }
    let list = OldObjects(of: member.id, on: name, state: session.home.state)
    let names = try keeping { () throws(VaultError) in try list.load() }
    guard !names.isEmpty, !session.options.isDryRun, isWholeThere(member) else { return }
    try session.forEach(names) { [self] (name) throws(SyncError) in
      let path = BlobPath(VaultPath.object(self.member, name).string)
      try asking { () throws(BlobStoreError) in try session.remote.remove(path) }
    }
    try keeping { () throws(VaultError) in try list.clear() }
  }

  /// Whether every head on the remote that counts is of the current epoch, or was taken over by one that stands there.
  private func isWholeThere(_ member: Member) -> Bool {
    guard !member.hasLateHeads else { return false }
    let opened = Dictionary(
      member.openedHeads.map { ($0.device, $0) }, uniquingKeysWith: { first, _ in first })
    let known = member.knownCounters
    var isOneCurrent = false
    for path in exchange.heads(of: member.id) {
      guard case .head(_, let device) = path else { continue }
      let there =
        session.wasPut(path) ? session.memory.seen[path]?.state : exchange.there[path]
      guard let there else {
        // One that does not hold may be damaged only.
        if exchange.broken.contains(path) { return false }
        continue
      }
      if let head = opened[device], head.hash == there.hash {
        isOneCurrent = true
      } else if opened[device] != nil || known[device] ?? 0 < there.counter {
        return false
      }
    }
    return isOneCurrent
  }

  private func isPut(_ head: OpenedHead) throws(SyncError) -> Bool {
    let path = VaultPath.head(member, head.device)
    guard let file = try exchange.stored(path), file.facts.counter == head.counter else {
      return false
    }
    switch exchange.plan(path, here: file.facts).action {
    case .put: return true
    // What is there was joined before; if it could not be, it must not be lost.
    case .joinThenPut: return session.isRegained(path)
    case .leave, .take: return false
    }
  }

  private var hasGoneBack: Bool {
    exchange.shownBefore.contains { path, state in
      guard case .head(member, _) = path, !exchange.former.contains(path) else { return false }
      return (exchange.there[path]?.counter ?? 0) < state.counter
    }
  }

  // MARK: What is left

  /// Commits that are here and not there.
  func countPending() throws(SyncError) {
    let seen = session.memory.seen
    guard let open = vault.member(member) else { return }
    var there: [DeviceID: UInt64] = [:]
    var here: [DeviceID: UInt64] = [:]
    for head in open.openedHeads {
      let path = VaultPath.head(member, head.device)
      here[head.device] = head.counter
      // What the remote took, not what it showed before it went back.
      let state = session.wasPut(path) ? seen[path]?.state : exchange.there[path]
      there[head.device] = state?.counter
    }
    let missing = Coverage(there).missingCommits(of: here)
    session.change { $0.pendingCommitCount += missing }
    for path in exchange.heads(of: member) {
      guard case .head(_, let device) = path, there[device] == nil else { continue }
      there[device] = exchange.there[path]?.counter
    }
    let shown = here.merging(there, uniquingKeysWith: max)
    noteWithheld(open, shown: shown.merging(open.knownCounters, uniquingKeysWith: max))
  }

  private func noteWithheld(_ open: Member, shown: [DeviceID: UInt64]) {
    let heads = open.openedHeads.filter { !$0.isLate }.map {
      (device: $0.device, cover: $0.head.cover)
    }
    for head in WithheldHead.find(heads: heads, shown: shown) {
      session.note(.withheld(head, of: member))
    }
  }
}
