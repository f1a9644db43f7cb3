import BlobStore
import Vault
import VaultErrors
import VaultModel

/// Does what the course of a sync says is next, until nothing is left to do.
struct SyncPipeline {
  let session: SyncSession
  let reach: SyncReach
  private(set) var looking: SyncLooking
  private var course: SyncCourse
  /// What was judged last; nil before the first look.
  private var judged: SignedExchange?
  /// Of a sync of heads: what was committed here, and the heads that it stands in.
  private var commits: (news: Set<VaultPath>, heads: VaultHeads)?

  init(session: SyncSession, reach: SyncReach, looking: SyncLooking, course: SyncCourse) {
    (self.session, self.reach, self.looking) = (session, reach, looking)
    self.course = course
  }

  /// What came of one step.
  private enum Outcome {
    case done
    /// What was judged does not hold any more.
    case lookIsOutdated
    /// The reach is not far enough.
    case notEnough
  }

  /// - Returns: False when the reach is not far enough for what is to be done.
  mutating func run() throws(SyncError) -> Bool {
    while let step = course.next() {
      switch try perform(step) {
      case .done: course.end(of: step, isLookOutdated: false)
      case .lookIsOutdated: course.end(of: step, isLookOutdated: true)
      case .notEnough: return false
      }
    }
    return true
  }

  private mutating func perform(_ step: SyncCourse.Step) throws(SyncError) -> Outcome {
    switch step {
    case .findCommits: return try findCommits() ? .done : .notEnough
    case .look:
      judged = try looking.look()
      try exchange.rememberWraps()
    case .requireSettled:
      let isSettled = try HeadsSync(session: session).isSettled(exchange, but: news)
      return isSettled ? .done : .notEnough
    case .takeIncoming:
      if try IncomingPull(session: session, vault: vault).run() { return .lookIsOutdated }
    case .takeStatements: try takeStatements()
    case .requireNotRemoved: try exchange.requireNotRemoved()
    case .takeMembers: for member in members { try alone(member, take) }
    case .part:
      if try VaultTending(session: session, vault: vault).part() || exchange.isOfFormerDevice {
        return .lookIsOutdated
      }
    case .forgetIncoming: try forgetIncoming()
    case .tendAccess:
      let tending = VaultTending(session: session, vault: vault)
      var hasRegister = try tending.tendRegister(exchange)
      if try tending.tendName() { hasRegister = true }
      if tending.tendAccess() || hasRegister || exchange.isOfFormerDevice {
        return .lookIsOutdated
      }
    case .carryLogs: try AuditSync(session: session, exchange: exchange).run(into: openVault)
    case .putPeople: try StatementSync(session: session, exchange: exchange).pushPeople()
    case .putMembers: for member in members { try alone(member, put) }
    case .putCommits: return try putCommits() ? .done : .notEnough
    case .endPut: try endPut()
    case .countPending: for member in members { memberSync(member).countPending() }
    }
    return .done
  }

  // MARK: What is at hand

  private var exchange: SignedExchange {
    guard let judged else { preconditionFailure("whatever comes after a look asks for it") }
    return judged
  }

  /// The members of either side.
  private var members: [MemberID] {
    exchange.look.members.union(exchange.local.members).sorted()
  }

  private var openVault: Vault? { if case .open(let vault) = reach { vault } else { nil } }

  private var vault: Vault {
    guard let openVault else { preconditionFailure("only a sync of an open vault does this") }
    return openVault
  }

  private func memberSync(_ member: MemberID) -> MemberSync {
    MemberSync(session: session, exchange: exchange, vault: vault, member: member)
  }

  // MARK: Steps

  /// What is wrong with one member is told, and the others go on.
  private func alone(
    _ member: MemberID, _ body: (MemberID) throws(SyncError) -> Void
  ) throws(SyncError) {
    do { try body(member) } catch {
      guard case .vault(let cause) = error, cause.concernsOneMember else { throw error }
      session.note(SyncProblem(cause, here: "members/\(member.hex)"))
      // What was fetched for it while the vault was locked is kept.
      session.change { $0.untakenHeadCount += 1 }
    }
  }

  private func takeStatements() throws(SyncError) {
    guard openVault == nil else {
      return try StatementSync(session: session, exchange: exchange).pull(into: vault)
    }
    try LockedStatements(session: session, exchange: exchange).run()
  }

  private func take(_ member: MemberID) throws(SyncError) {
    guard openVault == nil else { return try memberSync(member).pull() }
    try LockedPull(session: session, exchange: exchange, member: member).run()
  }

  private func put(_ member: MemberID) throws(SyncError) {
    guard openVault == nil else { return try memberSync(member).push() }
    guard exchange.isCarried(member) else { return }
    try SealedCarry(session: session, exchange: exchange, member: member).push(
      exchange.heads(of: member).filter(exchange.isPutWithoutKeys))
  }

  private func forgetIncoming() throws(SyncError) {
    guard session.report.untakenHeadCount == 0 else { return }
    try IncomingPull(session: session, vault: vault).forget(besides: exchange)
  }

  /// The heads are there; a vault becomes one when its `vault.json` is, too.
  private func endPut() throws(SyncError) {
    if !exchange.look.hasDescription {
      try session.flush()
      try session.put(.vault, VaultDescription(vault: session.home.id).encoded())
    }
    session.tendLeftOver(removing: !session.options.isDryRun)
    if !session.report.pushed.isEmpty { try session.flush() }
  }

  // MARK: Heads only

  private var news: Set<VaultPath> { commits?.news ?? [] }

  /// - Returns: False when more is to be done than a sync of heads can do, whatever the remote shows.
  private mutating func findCommits() throws(SyncError) -> Bool {
    guard case .heads(_, let opening) = reach else {
      preconditionFailure("only a sync of heads does this")
    }
    let sync = HeadsSync(session: session)
    guard try sync.mayBeEnough() else { return false }
    let news = try sync.newHeads(looking.lookHere())
    guard !news.isEmpty else { return true }
    guard session.options.direction != .pull, !session.options.isDryRun,
      let heads = try keeping(opening())
    else { return false }
    commits = (news, heads)
    return true
  }

  private func putCommits() throws(SyncError) -> Bool {
    guard let commits else { return true }
    return try CommitPush(session: session, exchange: exchange, vault: commits.heads)
      .run(commits.news)
  }
}
