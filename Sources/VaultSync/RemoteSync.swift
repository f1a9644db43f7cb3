import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// Syncs a vault with one remote: another copy of it, in any store. Docs/Sync.md.
///
/// Objects are joined, signed files are verified and the newer register counts; nothing that is newer is ever
/// replaced, here or there. A sync that is stopped at any point, or that another one runs beside, has moved what it
/// has moved; the next one goes on from there. One process at a time syncs one remote.
package struct RemoteSync {
  private let reach: SyncReach
  private let remote: any BlobStore
  private let name: RemoteName
  private let options: SyncOptions
  /// Where objects may be had that the remote has lost; nil for nowhere.
  package var elsewhere: (any ObjectSource)?
  /// What a sync that was not enough saw a moment ago, and this one need not ask for again.
  package var seen: RemoteSight?

  /// What a sync came to.
  package enum End {
    case done(SyncReport)
    /// A sync of heads was not enough; at most objects were put there. Nothing is remembered of it.
    case notEnough(RemoteSight?)
  }

  /// - Parameters:
  ///   - remote: Where the copy is, with whatever retries and limits it is to have.
  ///   - name: What this machine calls it; what is remembered of it is kept under that name.
  package init(
    _ reach: SyncReach, remote: any BlobStore, name: RemoteName,
    options: SyncOptions = SyncOptions()
  ) {
    (self.reach, self.remote, self.name, self.options) = (reach, remote, name, options)
  }

  package init(
    vault: Vault, remote: any BlobStore, name: RemoteName, options: SyncOptions = SyncOptions()
  ) {
    self.init(.open(vault), remote: remote, name: name, options: options)
  }

  /// Pulls, joins and pushes, as the options say and the reach lets; not for a reach to heads only, which may not be
  /// enough.
  ///
  /// Trouble with one file or member is in the report, and everything else goes on. What ended the sync early is
  /// thrown, and remembered with its time; so is a success.
  ///
  /// - Parameter progress: Called now and then, from several threads.
  package func run(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> SyncReport {
    guard case .done(let report) = try runIfEnough(progress: progress) else {
      preconditionFailure("only a sync of heads may not be enough")
    }
    return report
  }

  /// `run`, which with a reach to heads only may turn out not to be enough. Where more waits here than that can put
  /// there, the remote is not even asked.
  package func runIfEnough(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> End {
    let home = try home()
    let file = RemoteStateFile(state: home.state, remote: name)
    // What is on its way stays meanwhile.
    let reading = try keeping(ReadingMark.take(in: home.state))
    defer { withExtendedLifetime(reading) {} }
    return try file.whileLocked(patience: options.patience) { () throws(SyncError) in
      let memory = try file.load()
      let now = RemoteSight.Circumstances(
        memory: memory, vouched: home.vouching?.fingerprint, time: home.clock.milliseconds())
      let seen = seen.flatMap { $0.serves(now) ? $0 : nil }
      let side = RemoteSide(
        store: remote, name: name, nearer: IncomingFolder(home, remote: name),
        elsewhere: elsewhere, read: seen?.bytes ?? [:])
      let session = SyncSession(
        home: home, side: side, memory: memory,
        order: SyncOrder(options: options, progress: progress))
      let looking = SyncLooking(session: session, seen: session.looksEverywhere ? nil : seen)
      return try run(session, looking, file)
    }
  }

  private func home() throws(SyncError) -> SyncHome {
    switch reach {
    case .heads(let vault, _), .locked(let vault): try .closed(vault)
    case .open(let vault):
      SyncHome(vault, vouching: try keeping(vault.rememberedVouching()))
    }
  }

  /// Runs one sync to its end, and remembers how it ended.
  private func run(
    _ session: SyncSession, _ looking: SyncLooking, _ file: RemoteStateFile
  ) throws(SyncError) -> End {
    let now = session.home.clock.milliseconds()
    let before = session.memory
    var pipeline = SyncPipeline(
      session: session, reach: reach, looking: looking,
      course: SyncCourse(reach.kind, session.options))
    do {
      guard try pipeline.run() else {
        return .notEnough(pipeline.looking.sight(besides: before, at: now))
      }
      // What a thread met that could not throw.
      try session.throwFailure()
    } catch {
      session.remember { $0.fail(at: now, error) }
      if error.isOfRemote { takeIncoming(session) }
      // Whoever waits is told what went wrong with the sync, also where that cannot be kept.
      do { if !options.isDryRun { try file.store(session.memory) } } catch {}
      throw error
    }
    session.rememberSuccess(at: now, reach.kind, whereItCompares: mayCompare)
    if !options.isDryRun {
      try file.store(session.memory)
      try noteClock(now, in: session.home.state)
    }
    return .done(session.report)
  }

  /// Whether objects are compared as often as they are due: without the keys nobody knows what is needed, and who only takes
  /// puts nothing back.
  private var mayCompare: Bool {
    if case .open = reach { options.direction != .pull } else { false }
  }

  /// The vault was used on this machine. With the keys it is known what others wrote.
  private func noteClock(_ now: UInt64, in state: StateFolder) throws(SyncError) {
    if case .open(let vault) = reach { return try keeping(vault.noteClock()) }
    try keeping(state.noteClock(now))
  }

  /// What was fetched while locked is taken, though the remote is not to be had.
  private func takeIncoming(_ session: SyncSession) {
    guard case .open(let vault) = reach, options.direction != .push, !options.isDryRun else {
      return
    }
    // Whoever waits is told what is wrong with the remote; this the next sync tries again, and tells.
    do { _ = try IncomingPull(session: session, vault: vault).run() } catch {}
  }
}

extension SyncSession {
  fileprivate func rememberSuccess(
    at now: UInt64, _ reach: SyncReach.Kind, whereItCompares mayCompare: Bool
  ) {
    let (report, isToBeCompared) = (report, isToBeCompared)
    let findings = findings(besides: memory.findings, reach)
    // Without the keys, and where it only puts, a sync takes none.
    let takesLogs = joinsLogs && reach == .open && options.direction != .push
    rememberLoss(at: now, whereItCompares: mayCompare)
    remember { memory in
      memory.succeed(at: now)
      memory.pendingCommitCount = report.pendingCommitCount
      memory.findings = findings
      if looksEverywhere { memory.lastFullLook = now }
      if takesLogs { memory.lastLogs = now }
      if isToBeCompared {
        memory.lastComparison = 0
      } else if mayCompare, comparesObjects || memory.lastComparison == nil {
        memory.lastComparison = now
      }
    }
  }

  /// What a person should know after this sync.
  private func findings(
    besides earlier: [RemoteMemory.Finding], _ reach: SyncReach.Kind
  ) -> [RemoteMemory.Finding] {
    // A sync that only puts has not looked at what is to be taken.
    if options.direction == .push { return report.findings(ofDamageHere: earlier) }
    // Without the keys nothing was joined.
    return reach == .locked ? report.findings(besides: earlier) : report.findings
  }
}

extension SyncError {
  /// Whether the remote is at fault, and not what is here.
  fileprivate var isOfRemote: Bool {
    switch self {
    case .remote, .otherVault, .notThisVault, .notEmpty, .emptied, .noVault, .tooManyPeople,
      .crowdedPeople:
      true
    case .vault, .busy: false
    }
  }
}
