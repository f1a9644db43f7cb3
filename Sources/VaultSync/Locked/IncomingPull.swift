import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// Takes what was fetched from a remote while the vault was locked: a sync of its own, from this machine's state, judged as
/// any other. The remote need not be there for it, nor have any of it still.
struct IncomingPull {
  /// Of the sync with the remote.
  let session: SyncSession
  let vault: Vault

  /// Takes what is news and can be had whole without the remote.
  ///
  /// - Returns: Whether anything was taken.
  func run() throws(SyncError) -> Bool {
    guard let incoming, try !saving(try incoming.isEmpty()) else { return false }
    let own = SyncSession(
      home: session.home, side: RemoteSide(store: incoming), memory: memory,
      order: SyncOrder(options: options, progress: session.progress))
    var pipeline = SyncPipeline(
      session: own, reach: .open(vault), looking: SyncLooking(session: own),
      course: SyncCourse.ofIncoming)
    do {
      _ = try pipeline.run()
      try own.throwFailure()
    } catch {
      // It is this machine's own disk.
      if case .remote(let cause) = error { throw .vault(VaultError(cause)) }
      throw error
    }
    let report = own.report
    session.change { $0.add(incoming: report) }
    return !report.pulled.isEmpty
  }

  private var incoming: IncomingFolder? {
    session.name.map { IncomingFolder(session.home, remote: $0) }
  }

  private var options: SyncOptions {
    var options = session.options
    options.direction = .pull
    options.looksEverywhere = false
    return options
  }

  /// An empty memory, since nothing is known of what lies in the folder; but as one of a remote that was just looked through, so
  /// that nothing is compared.
  private var memory: RemoteMemory {
    var memory = RemoteMemory()
    let now = session.home.clock.milliseconds()
    (memory.lastFullLook, memory.lastLogs, memory.lastComparison) = (now, now, now)
    return memory
  }

  // MARK: What is not needed any more

  /// Forgets what was taken, and what is known to be of no use: a member's files once none of its heads is newer than what
  /// is here. Of those that stay it is told why, where the remote does not show them any more.
  func forget(besides exchange: SignedExchange) throws(SyncError) {
    guard let incoming, try !saving(try incoming.isEmpty()) else { return }
    let tree = try session.home.tree()
    var isAnyKept = false
    for (member, heads) in try saving(try incoming.heads()) {
      var isKept = false
      for path in heads {
        guard let counter = try incoming.counter(of: path, tree),
          try counter > counterHere(path, tree)
        else { continue }
        isKept = true
        if exchange.there[path]?.counter ?? 0 < counter { session.note(.keptIncoming(path)) }
      }
      if !isKept { try saving(try incoming.clear(member)) }
      isAnyKept = isAnyKept || isKept
    }
    if !isAnyKept { try saving(try incoming.clear()) }
  }

  /// How far the head's device is known to have come.
  private func counterHere(_ path: VaultPath, _ tree: SignedTree) throws(SyncError) -> UInt64 {
    let counter = try tree.storedCounter(of: path)
    guard case .head(let member, let device) = path else { return counter }
    return max(counter, vault.member(member)?.knownCounters[device] ?? 0)
  }
}

extension SyncReport {
  /// Takes in what came from the folder of what was fetched while locked. What is missing or damaged there the remote may
  /// have whole, and so it is not told.
  fileprivate mutating func add(incoming report: SyncReport) {
    pulled.add(report.pulled)
    changedRecordCount += report.changedRecordCount
    massChanges.merge(report.massChanges) { first, _ in first }
    for problem in report.problems where problem.kind.isOfTakenFiles {
      if !problems.contains(problem) { problems.append(problem) }
    }
  }
}

extension SyncProblem.Kind {
  /// Whether it is about what was taken, or not followed; and not about how whole the place is where it was found.
  fileprivate var isOfTakenFiles: Bool {
    switch self {
    case .fork, .differs, .untrusted, .ownIsNewer, .parted, .massChange, .epoch, .waiting: true
    case .wentBack, .rollback, .damagedThere, .missingThere, .missingHere, .withheld,
      .endlessListing, .tooMuchNew, .strangers, .foreignFile, .damagedHere, .accessForgotten:
      false
    }
  }
}

extension SyncProblem {
  /// A head that was fetched while locked, and cannot be taken.
  fileprivate static func keptIncoming(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .waiting, .warning, path: path.string,
      "It was fetched while the vault was locked, and the remote does not show it any more. It cannot be taken yet: "
        + "something that it needs is not to be had, or it waits to be accepted. It is kept, and every sync tries again."
    )
  }
}
