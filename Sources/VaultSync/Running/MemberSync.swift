import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects

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
    var plans = plans()
    if try takeLostOwn(plans) {
      // What else there is to take shows once that is here.
      if session.options.isDryRun { return }
      plans.removeAll { $0.path == ownHead }
    }
    let wanted = plans.filter { $0.plan.action == .take || $0.plan.action == .compare }
    let awaited = AwaitedParts(
      session: session, exchange: exchange, vault: vault, member: member)
    let waiting = try awaited.devices(of: plans.map(\.path))
    let hasFailedHead = exchange.hasFailedHead(of: member)
    guard
      plans.contains(where: { $0.plan != RegisterPlan(.leave) }) || !waiting.isEmpty
        || hasFailedHead || exchange.judged.ownThatStays[ownHead] != nil
    else { return }
    let access = self.access()
    guard case .open(let open) = access else {
      for (path, plan) in plans { exchange.note(plan, path) }
      return try pull(wanted, access)
    }
    if hasFailedHead { session.change { $0.hasUnreadHeads = true } }
    let devices = devicesToFollow(plans, open, besides: waiting)
    noteCopyThatStays(open)
    guard !devices.isEmpty else { return }
    let (failures, before) = (vault.failedBarriers, session.report.pulled.objectCount)
    let count = try MemberPull(
      session: session, exchange: exchange, vault: vault, member: open, waiting: waiting
    ).run(devices)
    if session.options.isDryRun { return }
    // A join that waits for consent is not to come about in parts.
    if session.report.massChanges[member] == nil {
      let hasCome = session.report.pulled.objectCount > before
      try awaited.bring(for: waiting, hasCome: hasCome, since: failures)
    }
    try keeping { () throws(VaultError) in
      if count > 0 { _ = try vault.refreshMembers() }
      _ = try vault.member(member)?.joinConcurrent()
    }
  }

  /// Tells what was found of the remote's heads; what is said of lines shows only once they are opened.
  ///
  /// - Returns: The devices whose heads are fetched, and those that wait.
  private func devicesToFollow(
    _ plans: [(path: VaultPath, plan: RegisterPlan)], _ open: Member, besides waiting: Set<DeviceID>
  ) -> [DeviceID] {
    var devices: [DeviceID] = []
    for (path, plan) in plans {
      guard case .head(_, let device) = path else { continue }
      var told = plan
      told.findings.removeAll { $0.isOfLines }
      exchange.note(told, path)
      if waiting.contains(device) || isFetched(plan, device, open) { devices.append(device) }
    }
    return devices
  }

  private var ownHead: VaultPath { .head(member, session.home.device) }

  /// Notes that this machine is to become a device of its own, where a head under its key stays on the remote that cannot be
  /// judged and is surely of another line: else nobody gets from there what this machine writes. Docs/Sync.md, "Put back or
  /// copied".
  private func noteCopyThatStays(_ open: Member) {
    // One that is opened for an epoch that has come has read no heads.
    let open = vault.member(member) ?? open
    guard !session.options.isDryRun, let place = exchange.judged.ownThatStays[ownHead],
      let above = open.lastShared(withUnjudged: place),
      // Else all that it ever wrote of the member is written anew, unsigned: only where a person has this sync look everywhere.
      above > 0 || session.options.looksEverywhere
    else { return }
    session.noteCopy(ownHead, above: above)
    guard case let told?? = exchange.judged.failures[ownHead] else { return }
    // It is told anew, as that of another device.
    session.change { $0.problems.removeAll { $0 == told } }
  }

  /// Takes this device's own head where the folder has lost it, and the remote has the one that this machine has seen last, or a
  /// newer one: somebody has removed the file, or put a folder back of before the first one. Until it is here nothing else can be
  /// done with the member.
  ///
  /// - Returns: Whether it was taken, or would be.
  private func takeLostOwn(
    _ plans: [(path: VaultPath, plan: RegisterPlan)]
  ) throws(SyncError) -> Bool {
    guard let lost = vault.member(member)?.standstill(), isToBeTaken(lost, plans) else {
      return false
    }
    let open: Member
    do { open = try vault.receivingMember(member, in: exchange.tree) } catch {
      // What keeps it from being opened is told of the whole member.
      return false
    }
    let count = try MemberPull(
      session: session, exchange: exchange, vault: vault, member: open, waiting: []
    ).run([session.home.device])
    if count == 0 { return false }
    session.note(.ownWasLost(ownHead))
    return true
  }

  /// Whether all that is wrong with the member is that this device's own head is gone, and the remote has it.
  private func isToBeTaken(
    _ lost: VaultError, _ plans: [(path: VaultPath, plan: RegisterPlan)]
  ) -> Bool {
    let own = ownHead
    guard case .missing(own.string) = lost else { return false }
    return plans.contains { $0.path == own && $0.plan == RegisterPlan(.take) }
  }

  /// Whether the remote's head is news, or of a line that is not followed here.
  private func isFetched(_ plan: RegisterPlan, _ device: DeviceID, _ open: Member) -> Bool {
    // One that is opened for an epoch that has come has read no heads.
    let open = vault.member(member) ?? open
    let path = VaultPath.head(member, device)
    guard let there = exchange.there[path] else { return false }
    if plan.action == .take { return true }
    if open.mayLackRest(of: device, counter: there.counter, hash: there.hash) { return true }
    // Of a line that another device has taken over: whatever is there stands for the device, whose counters begin anew.
    if let here = exchange.here[path], here.hash != there.hash,
      open.isRetold(device, counter: here.counter, hash: here.hash)
    {
      return !open.isRetold(device, counter: there.counter, hash: there.hash)
    }
    let isApart = open.isApart(device, counter: there.counter, hash: there.hash)
    return isApart ?? (plan.action == .compare || plan.isForked)
  }

  /// Of a member that is not open here.
  private func pull(
    _ wanted: [(path: VaultPath, plan: RegisterPlan)], _ access: Access
  ) throws(SyncError) {
    guard !wanted.isEmpty else { return }
    switch access {
    case .open: return
    case .none:
      session.change { $0.untakenHeadCount += wanted.count }
    case .sealed:
      try SealedCarry(session: session, exchange: exchange, member: member).pull(
        wanted.filter { $0.plan.action == .take }.map(\.path), into: vault)
      try placeNewEpochs()
    }
  }

  /// Of a member that this person cannot read, or not any more.
  private func placeNewEpochs() throws(SyncError) {
    let links = try StatementSync(session: session, exchange: exchange).newEpochs(of: member)
    if links.isEmpty || session.options.isDryRun { return }
    try keeping { () throws(VaultError) in
      try vault.place(links)
      _ = try vault.refreshMembers()
    }
  }

  private func plans() -> [(path: VaultPath, plan: RegisterPlan)] {
    exchange.heads(of: member).map { ($0, exchange.plan($0)) }
  }

  /// Whether a link of the member is all that does not hold. It may have been the one that gives this person access; but
  /// anybody can put such a file into the folder, so what is sealed is carried all the same.
  private func isOfLink(_ error: VaultError) -> Bool {
    guard case .damaged(let path, _) = error, case .link? = VaultPath(parsing: path) else {
      return false
    }
    return true
  }

  private func access() -> Access {
    do {
      let member = try vault.receivingMember(member, in: exchange.tree)
      // One that is opened for an epoch that has come goes on from the one that is open here.
      if let standstill = member.standstill() ?? vault.member(member.id)?.standstill() {
        // What a sync would bring before anything else is not told of one that brings nothing.
        if !session.options.isDryRun || !isToBeTaken(standstill, plans()) {
          session.note(SyncProblem(standstill, here: "members/\(member.id.hex)"))
        }
        return .none
      }
      return .open(member)
    } catch {
      switch error {
      case .noAccess, .accessEnded: return .sealed
      default:
        session.note(SyncProblem(error, here: "members/\(member.hex)"))
        return isOfLink(error) ? .sealed : .none
      }
    }
  }

  // MARK: Push

  func push() throws(SyncError) {
    guard exchange.isCarried(member), !exchange.look.givenUp.contains(member) else { return }
    switch access() {
    case .none: return
    case .sealed:
      let paths = plans().map(\.path).filter {
        exchange.isPutWithoutKeys($0) && exchange.here[$0] != nil
      }
      try SealedCarry(session: session, exchange: exchange, member: member).push(paths)
    case .open(let member): try push(member)
    }
  }

  private func push(_ member: Member) throws(SyncError) {
    // What another process of this device committed meanwhile is sent as well.
    try keeping { () throws(VaultError) in _ = try member.refresh() }
    // Which may show that this machine is another device: the next sync sends what that has written.
    guard !exchange.isOfFormerDevice else { return }
    let statements = StatementSync(session: session, exchange: exchange)
    var wanted: [OpenedHead] = []
    for head in member.openedHeads where try isPut(head, member) { wanted.append(head) }
    let push = MemberPush(
      session: session, exchange: exchange, member: member.carried, isRepair: hasGoneBack,
      isReplaced: { member.hasReplaced($0) },
      isOfOneLine: { member.isApart($0, counter: $1, hash: $2) == false })
    var sent: [OpenedHead] = []
    if wanted.isEmpty {
      try statements.push(member.id)
    } else {
      sent = try push.bringObjects(wanted)
      try statements.push(member.id)
      if !sent.isEmpty {
        // So that no loss of power leaves a head without what it names.
        try session.flush()
        try push.put(sent)
      }
    }
    let isSent = Set(sent.map(\.hash))
    let standing = member.openedHeads.filter { head in
      isSent.contains(head.hash)
        || exchange.there[.head(member.id, head.device)]?.hash == head.hash
    }
    try push.put(lostTakenOver(of: member, besides: standing))
    if !isOnlyPlanned { try giveBackLost(of: member, standing) }
    try RemovalThere(session: session, exchange: exchange, member: member).run()
  }

  /// Compares which objects are here and there, where that is due.
  ///
  /// - Parameter standing: As of `LostObjects`.
  private func giveBackLost(of open: Member, _ standing: [OpenedHead]) throws(SyncError) {
    // A lazy vault relies on what it has left there from the first sync on.
    let isFirst = open.sealedObjects.isLazy && session.memory.lastComparison == nil
    let isDryRun = session.options.isDryRun
    let holdsLost = !isDryRun && vault.member(member)?.takeHoldsWhatIsCalledLost() ?? false
    guard session.comparesObjects || session.hasMetLoss || isFirst || holdsLost else { return }
    let replaced = try LostObjects(
      session: session, exchange: exchange, member: open, standing: standing
    ).giveBack()
    if holdsLost { session.note(.stillHere(of: member)) }
    guard let writer = vault.member(member) else { return }
    try keeping { () throws(VaultError) in try writer.takeBack(replaced) }
  }

  /// Whether this is a dry run that would move heads: which objects are needed, and where they are, shows only once those have been
  /// moved.
  private var isOnlyPlanned: Bool {
    session.options.isDryRun
      && exchange.heads(of: member).contains {
        exchange.here[$0]?.hash != exchange.there[$0]?.hash
      }
  }

  /// Heads that the remote showed before it went back, and of which nothing is needed since one that stands there has taken
  /// them over: only they prove how far their devices have come.
  private func lostTakenOver(
    of open: Member, besides standing: [OpenedHead]
  ) -> [OpenedHead] {
    open.headsTakenOver.filter { late in
      let path = VaultPath.head(member, late.device)
      let there = exchange.there[path]?.counter ?? 0
      guard let shown = exchange.shownBefore[path], there < shown.counter, there < late.counter
      else { return false }
      return standing.contains { !$0.isLate && $0.takesOver(late) }
    }
  }

  private func isPut(_ head: OpenedHead, _ open: Member) throws(SyncError) -> Bool {
    let path = VaultPath.head(member, head.device)
    guard let file = try exchange.stored(path), file.facts.counter == head.counter else {
      return false
    }
    let action = exchange.plan(path, here: file.facts).action
    guard let there = exchange.there[path] else { return action == .put }
    if there.hash == file.facts.hash { return false }
    if open.isRetold(head.device, counter: there.counter, hash: there.hash) { return true }
    // What waits for consent, or could not be read just now, would stand in no head any more.
    if session.report.massChanges[member] != nil || session.isUnread(there.hash),
      open.mayLackRest(of: head.device, counter: there.counter, hash: there.hash)
    {
      return false
    }
    switch action {
    case .put, .compare:
      // What it does not go on from must not be lost.
      return open.isApart(head.device, counter: there.counter, hash: there.hash) == false
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
  func countPending() {
    guard let open = vault.member(member) else { return }
    PendingCount(session: session, exchange: exchange, member: open.carried).run()
  }
}
