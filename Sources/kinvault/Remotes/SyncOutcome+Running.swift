import BlobStore
import MachineState
import RemoteStores
import Vault
import VaultErrors
import VaultModel
import VaultSync

/// How a sync is run, and what is seen to around it: the remote is opened, the cache trimmed, the doorbell rung, and noted what
/// may be tampering.
extension SyncOutcome {
  /// Syncs an open vault, and says what came of it.
  ///
  /// - Parameters:
  ///   - others: The remotes that may have what this one has lost; it may be among them.
  ///   - seen: What a sync that was not enough saw a moment ago.
  static func syncing(
    _ known: KnownRemote, _ vault: Vault, _ order: Order, others: [KnownRemote],
    seen: RemoteSight? = nil
  ) -> SyncOutcome {
    let before = Set(vault.problems)
    var report = SyncReport()
    var outcome = SyncOutcome.of(known, order, in: vault.copy) { store, options, progress in
      var sync = RemoteSync(vault: vault, remote: store, name: known.name, options: options)
      sync.elsewhere = RemoteFiles(others.filter { $0.name != known.name }.map(\.place))
      sync.seen = seen
      report = try sync.run(progress: progress)
      return report
    }
    if !outcome.isDryRun, !report.pulled.isEmpty { outcome.tendCache(of: vault) }
    if known.configuration.isUnfinishedClone, order.options.direction != .push,
      !report.mayBringMore
    {
      outcome.endClone(of: known, in: vault.copy)
    }
    outcome.name(report, in: vault)
    // Nothing else tells why a member shows no more.
    let new = vault.problems.filter { !before.contains($0) }
    outcome.revocations += new.filter { $0.kind == .accessEnded }.map(\.reason)
    if let note = FallenMembers(among: new).note { outcome.revocations.append(note) }
    return outcome
  }

  /// Brings what is pinned, and trims the cache. The sync has succeeded all the same where that fails.
  private mutating func tendCache(of vault: Vault) {
    do { try vault.tendCache() } catch {
      problems.append(
        ProblemRow(
          kind: "cache", severity: "warning", path: error.file ?? "members",
          text:
            "What is to be always here could not all be brought, or what has no room here not be sent away: "
            + error.message))
    }
  }

  /// All that the remote has has come, but for what no other sync would bring either.
  private mutating func endClone(of known: KnownRemote, in copy: VaultCopy) {
    guard failure == nil, !isDryRun else { return }
    do { try RemoteRegistry(state: copy.state).endClone(of: known.name) } catch {
      problems.append(
        ProblemRow(
          kind: "unnoted", severity: "note", path: "remotes/\(known.name)",
          text: "That all of the vault has come could not be noted: \(error.message)"))
    }
  }

  /// What a sync without the whole vault came to.
  enum Quick {
    case ended(SyncOutcome)
    /// The vault has to be opened whole; so much was seen.
    case notEnough(RemoteSight?)
  }

  /// Syncs without opening the whole vault, where that is enough.
  static func quick(
    _ known: KnownRemote, _ vault: DeferredVault, _ options: SyncOptions
  ) throws -> Quick {
    let copy = try VaultCopy.here(in: vault.folder)
    var end = RemoteSync.End.notEnough(nil)
    let outcome = SyncOutcome.of(
      known, Order(options: options, showsProgress: false, waits: true), in: copy
    ) { store, options, _ in
      let reach = SyncReach.heads(copy) { () throws(VaultError) in
        try VaultHeads.open(copy, key: vault.unlocked.key)
      }
      end = try RemoteSync(reach, remote: store, name: known.name, options: options).runIfEnough()
      guard case .done(let report) = end else { return SyncReport() }
      return report
    }
    if outcome.failure == nil, case .notEnough(let seen) = end { return .notEnough(seen) }
    return .ended(outcome)
  }

  /// What is asked of a sync, and whether it is shown how far it is.
  struct Order {
    var options = SyncOptions()
    var showsProgress: Bool
    /// Told how far it is as well.
    var progress: (@Sendable (WorkProgress) -> Void)?
    /// Somebody has asked for it, and waits for another sync of the same remote to end.
    var waits = false
  }

  /// The other sync is, as a rule, the mount's, which began when the last file was saved.
  static func patience(with remote: RemoteName) -> SyncPatience {
    SyncPatience(limit: .seconds(120)) {
      Terminal.note("\(remote): Another program is syncing it right now; waiting for that one.")
    }
  }

  /// Runs `sync` with the remote's store, and says what came of it.
  static func of(
    _ known: KnownRemote, _ order: Order, in copy: VaultCopy,
    sync: (
      any BlobStore, SyncOptions, @escaping @Sendable (WorkProgress) -> Void
    ) throws -> SyncReport
  ) -> SyncOutcome {
    var options = order.options
    options.threadCount = known.threadCount
    if order.waits { options.patience = patience(with: known.name) }
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    do {
      let (store, unopened) = try open(known, in: copy)
      let report: SyncReport
      do {
        report = try sync(store, options) { progress in
          if order.showsProgress { bar.update(progress) }
          order.progress?(progress)
        }
      } catch SyncError.remote(let error) {
        // What fails here, as a full disk does, is not the remote's.
        throw unopened ?? SyncError.remote(error)
      }
      var outcome = SyncOutcome(known.name, report)
      if !options.isDryRun {
        outcome.remember(report, of: known, in: copy)
        outcome.ring(report.doorbellTopics, of: known)
      }
      return outcome
    } catch {
      return SyncOutcome(known.name, isDryRun: options.isDryRun, failure: error)
    }
  }

  /// The remote's store; for one that does not open, while something waits that was fetched from it when the vault was
  /// locked, and that needs no remote to be taken, a store that fails with the same error.
  private static func open(
    _ known: KnownRemote, in copy: VaultCopy
  ) throws -> (store: any BlobStore, unopened: BlobStoreError?) {
    do { return (try known.open(), nil) } catch {
      if try !FetchedWhileLocked.isEmpty(in: copy.state, from: known.name) {
        return (UnopenedStore(error), error)
      }
      // Whoever waits is told, also where it cannot be kept, or another sync is just about to say how it ends.
      do { try remember(error, of: known, in: copy) } catch {}
      throw error
    }
  }

  /// Tells the other machines. Where that fails they look for themselves a little later, so it is a note.
  private mutating func ring(_ topics: Set<String>, of known: KnownRemote) {
    guard !topics.isEmpty else { return }
    do {
      guard let doorbell = try known.doorbell() else { return }
      for topic in topics.sorted() { try doorbell.ring(topic) }
    } catch {
      problems.append(
        ProblemRow(
          kind: "unrung", severity: "note", path: "doorbell",
          text: "It could not be rung, so that other machines see what is new some minutes later: "
            + FailureReport(error).message))
    }
  }

  /// Has what may be tampering told until a person has looked at it.
  private mutating func remember(
    _ report: SyncReport, of known: KnownRemote, in copy: VaultCopy
  ) {
    do {
      try copy.state.note(
        report.problems.compactMap(\.suspicion), remote: known.name, clock: copy.clock)
    } catch {
      problems.append(
        ProblemRow(
          kind: "unnoted", severity: "warning", path: "tampering",
          text: "What was found could not be noted in the audit log: \(error.message)"))
    }
  }

  /// A remote that cannot even be opened counts as a sync that failed.
  private static func remember(
    _ error: BlobStoreError, of known: KnownRemote, in copy: VaultCopy
  ) throws(SyncError) {
    let file = RemoteStateFile(state: copy.state, remote: known.name)
    try file.whileLocked { () throws(SyncError) in
      var memory = try file.load()
      memory.fail(at: copy.clock.milliseconds(), SyncError.remote(error).message)
      try file.store(memory)
    }
  }
}
