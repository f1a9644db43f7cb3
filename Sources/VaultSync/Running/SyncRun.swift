import BlobStore
import Vault
import VaultModel

/// The frame of every sync: the lock, what is remembered of the remote, and how it ended.
struct SyncRun: Sendable {
  let home: SyncHome
  let remote: any BlobStore
  let name: RemoteName
  let options: SyncOptions
  var elsewhere: (any ObjectSource)?

  /// Runs the steps in a session of their own; remembers a success or a failure with its time.
  func run(
    _ progress: @escaping @Sendable (WorkProgress) -> Void,
    _ steps: (SyncSession) throws(SyncError) -> Void
  ) throws(SyncError) -> SyncReport {
    let report = try runIfEnough(progress) { (session) throws(SyncError) in
      try steps(session)
      return true
    }
    guard let report else { preconditionFailure("every sync comes to an end") }
    return report
  }

  /// The same with steps that may see that they are not enough, and have changed nothing: then nothing is remembered
  /// of this run, and it has no report.
  func runIfEnough(
    _ progress: @escaping @Sendable (WorkProgress) -> Void,
    _ steps: (SyncSession) throws(SyncError) -> Bool
  ) throws(SyncError) -> SyncReport? {
    let file = RemoteStateFile(state: home.state, remote: name)
    // What is on its way stays meanwhile.
    let reading = try keeping { () throws(VaultError) in try ReadingMark.take(in: home.state) }
    defer { withExtendedLifetime(reading) {} }
    return try file.whileLocked { () throws(SyncError) -> SyncReport? in
      let session = SyncSession(
        home: home, name: name, remote: remote,
        nearer: IncomingFolder(state: home.state, remote: name), elsewhere: elsewhere,
        memory: try file.load(), options: options, progress: progress)
      let now = home.clock.milliseconds()
      do throws(SyncError) {
        guard try steps(session) else { return nil }
        // What a thread met that could not throw.
        try session.throwFailure()
      } catch {
        session.remember { $0.fail(at: now, error) }
        // Whoever waits is told what went wrong with the sync, also where that cannot be kept.
        do throws(SyncError) { if !options.isDryRun { try file.store(session.memory) } } catch {}
        throw error
      }
      let (report, isToBeCompared) = (session.report, session.isToBeCompared)
      session.remember { memory in
        memory.succeed(at: now)
        memory.pendingCommitCount = report.pendingCommitCount
        // A sync that only puts has not looked at what is to be taken.
        if options.direction != .push { memory.findings = report.findings }
        if session.looksEverywhere { memory.lastFullLook = now }
        if isToBeCompared {
          memory.lastComparison = 0
        } else if session.comparesObjects || memory.lastComparison == nil {
          memory.lastComparison = now
        }
      }
      if !options.isDryRun { try file.store(session.memory) }
      return report
    }
  }
}

extension SyncSession {
  /// What both sides show, verified, and every member of either.
  func look() throws(SyncError) -> (exchange: SignedExchange, members: [MemberID]) {
    let exchange = try look(besides: localLook())
    return (exchange, exchange.look.members.union(exchange.local.members).sorted())
  }

  func localLook() throws(SyncError) -> LocalLook {
    do throws(BlobStoreError) { return try LocalLook(home.store) } catch {
      throw .vault(VaultError(error))
    }
  }

  /// What the remote shows, with what is left of it, beside what is here.
  func look(besides local: LocalLook) throws(SyncError) -> SignedExchange {
    let home = home
    let tree = try keeping { () throws(VaultError) in
      try SignedTree(vault: home.id, store: home.store, state: home.state)
    }
    let look = try RemoteLooking(session: self, local: local).look()
    let known = knownBroken(look, local)
    var (exchange, shown) = try judge(look, passing: known, besides: local, tree)
    var passed = known
    if !known.isEmpty, exchange.hasNewStatements {
      // What did not hold may build on these.
      (exchange, shown) = try judge(shown, passing: [:], besides: local, tree)
      passed = [:]
    }
    rememberBroken(exchange.failures, known: passed, shown, local)
    return exchange
  }

  /// What a remote shows, with what is left of it and without what is known not to hold.
  ///
  /// - Returns: And all that it shows.
  private func judge(
    _ look: RemoteLook, passing known: [VaultPath: RemoteMemory.Broken],
    besides local: LocalLook, _ tree: SignedTree
  ) throws(SyncError) -> (SignedExchange, RemoteLook) {
    var look = look
    var rest = look.without(Set(known.keys), besides: local)
    var cargo = try CargoJudgement(session: self, look: rest, local: local, tree: tree).run()
    if !cargo.missed.isEmpty {
      // Somebody has let them in since.
      remember { for owner in cargo.missed { $0.leftCargo[owner] = nil } }
      look = try RemoteLooking(session: self, local: local).look()
      rest = look.without(Set(known.keys), besides: local)
      cargo = try CargoJudgement(session: self, look: rest, local: local, tree: tree).run()
    }
    let exchange = try SignedExchange(
      session: self, look: rest, local: local, tree: tree, cargo: cargo, knownBroken: known)
    return (exchange, look)
  }

  /// The heads are there; a vault becomes one when its `vault.json` is, too.
  func finishPush(_ look: RemoteLook) throws(SyncError) {
    if !look.hasDescription {
      try flush()
      try put(.vault, VaultDescription(vault: home.id).encoded())
    }
    if !report.pushed.isEmpty { try flush() }
  }
}

extension SyncReport {
  /// What a person should know of, also one who did not see this report.
  fileprivate var findings: [RemoteMemory.Finding] {
    problems.filter { $0.severity > .note }.prefix(Self.findingLimit).map {
      RemoteMemory.Finding(kind: $0.kind, text: "\($0.path): \($0.text)")
    }
  }

  /// So many are kept.
  private static let findingLimit = 8
}
