import BlobStore
import MachineState
import RemoteStores
import Threads
import Vault
import VaultErrors
import VaultModel
import VaultSync
import Window

/// What a sync of one remote came to, as it is told.
struct SyncOutcome: Encodable {
  struct ProblemRow: Encodable {
    var kind: String
    var severity: String
    var path: String
    var text: String
    /// The path as a person can read it, where the vault was open.
    var place: String?

    enum CodingKeys: String, CodingKey { case kind, severity, path, text }
  }

  struct MoveRow: Encodable {
    var direction: String
    var path: String
    var bytes: UInt64
  }

  struct RecordRow: Encodable {
    var direction: String
    /// Names, the member's first.
    var path: [String]
    var change: String
  }

  var remote: String
  var state: String
  var isDryRun: Bool
  var pulledFiles = 0
  var pulledBytes: UInt64 = 0
  var pushedFiles = 0
  var pushedBytes: UInt64 = 0
  var removedFiles = 0
  var requests = 0
  var changedRecords = 0
  var pendingCommits: UInt64 = 0
  var problems: [ProblemRow] = []
  var moves: [MoveRow] = []
  var records: [RecordRow] = []
  /// Access that was taken away because it was due, in words.
  var revocations: [String] = []
  /// What was done about places among owners that are offered, in words.
  var handOvers: [String] = []
  var error: String?
  /// What ended it early; the others go on all the same.
  let failure: (any Error)?
  let massChange: Bool

  enum CodingKeys: String, CodingKey {
    case remote, state, isDryRun, pulledFiles, pulledBytes, pushedFiles, pushedBytes,
      removedFiles, requests, changedRecords, pendingCommits, problems, moves, records,
      revocations, handOvers, error
  }

  /// Syncs an open vault, and says what came of it.
  ///
  /// - Parameters:
  ///   - others: The remotes that may have what this one has lost; it may be among them.
  ///   - seen: What a sync that was not enough saw a moment ago.
  static func syncing(
    _ known: KnownRemote, _ vault: Vault, _ order: Order, others: [KnownRemote],
    seen: RemoteSight? = nil
  ) -> SyncOutcome {
    let done = Guarded<SyncReport?>(nil)
    var outcome = SyncOutcome.of(known, order, in: (vault.state, vault.clock)) {
      store, options, progress in
      var sync = RemoteSync(vault: vault, remote: store, name: known.name, options: options)
      sync.elsewhere = RemoteFiles(others.filter { $0.name != known.name }.map(\.place))
      sync.seen = seen
      let report = try sync.run(progress: progress)
      done.withLock { $0 = report }
      return report
    }
    let report = done.withLock { $0 } ?? SyncReport()
    if !outcome.isDryRun, !report.pulled.isEmpty { outcome.tendCache(of: vault) }
    if !outcome.problems.isEmpty {
      let paths = NamedPath(vault)
      for position in outcome.problems.indices {
        outcome.problems[position].place = paths.text(outcome.problems[position].path)
      }
    }
    outcome.revocations = describe(report.revocations, in: vault)
    if !report.handOvers.isEmpty {
      // Without their names they are told by their ids.
      let people = try? PersonLookup.load(of: vault)
      outcome.handOvers = report.handOvers.map { $0.text(in: vault, people) }
    }
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

  /// What was done by itself about who can read what, in words.
  private static func describe(_ done: [Revocation], in vault: Vault) -> [String] {
    guard !done.isEmpty else { return [] }
    // Without their names they are told by their ids.
    let people = try? PersonLookup.load(of: vault)
    return done.flatMap { revocation in
      let member = vault.member(revocation.member)?.name.string ?? revocation.member.shortHex
      func name(_ person: PersonID) -> String { people?.name(of: person) ?? person.shortHex }
      let doubt = revocation.clockLeap.map(Self.doubt) ?? ""
      let lines =
        revocation.expired.map {
          "\(name($0))'s access to \(member) was given until a date that has passed, and has ended.\(doubt)"
        }
        + revocation.revokedElsewhere.map {
          "\(name($0))'s access to \(member), which another owner took away, has ended."
        }
        + revocation.givenAgain.map {
          "\(name($0)), who has access to \(member), was given its key, which was changed without knowing of that."
        }
        + revocation.left.map { "\(name($0)) has left \(member), and has no key of it any more." }
      return lines.isEmpty ? ["\(member) has new keys, since someone's devices changed."] : lines
    }
  }

  private static func doubt(_ leap: ClockLeap) -> String {
    let (now, seen) = (
      LocalTimeText.of(milliseconds: leap.now).day, LocalTimeText.of(milliseconds: leap.seen).day
    )
    return
      " That is by this machine's clock, which says \(now); the last that it saw of this vault is of \(seen). If the clock "
      + "is ahead, set it, and give the access again: kinvault share"
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
    let id = try vault.id
    let state = try StateFolder(root: Environment.stateRoot, vault: id)
    var end = RemoteSync.End.notEnough(nil)
    let outcome = SyncOutcome.of(
      known, Order(options: options, showsProgress: false, waits: true), in: (state, .system)
    ) { store, options, _ in
      let closed = ClosedVault(
        id: id, folder: try DirectoryStore(opening: vault.folder), state: state)
      let reach = SyncReach.heads(closed) { () throws(VaultError) in
        try VaultHeads.open(
          folder: vault.folder, stateRoot: Environment.stateRoot, key: vault.unlocked.key)
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
    _ known: KnownRemote, _ order: Order, in home: (state: StateFolder, clock: WallClock),
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
      let (store, unopened) = try open(known, in: home)
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
      var outcome = SyncOutcome(known, report)
      if !options.isDryRun {
        outcome.remember(report, of: known, in: home)
        outcome.ring(report.doorbellTopics, of: known)
      }
      return outcome
    } catch {
      return SyncOutcome(known, isDryRun: options.isDryRun, failure: error)
    }
  }

  /// The remote's store; for one that does not open, while something waits that was fetched from it when the vault was
  /// locked, and that needs no remote to be taken, a store that fails with the same error.
  private static func open(
    _ known: KnownRemote, in home: (state: StateFolder, clock: WallClock)
  ) throws -> (store: any BlobStore, unopened: BlobStoreError?) {
    do { return (try known.open(), nil) } catch {
      if try !FetchedWhileLocked.isEmpty(in: home.state, from: known.name) {
        return (UnopenedStore(error), error)
      }
      // Whoever waits is told, also where it cannot be kept, or another sync is just about to say how it ends.
      do { try remember(error, of: known, in: home) } catch {}
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
    _ report: SyncReport, of known: KnownRemote, in home: (state: StateFolder, clock: WallClock)
  ) {
    do {
      try home.state.note(
        report.problems.compactMap(\.suspicion), remote: known.name, clock: home.clock)
    } catch {
      problems.append(
        ProblemRow(
          kind: "unnoted", severity: "warning", path: "tampering",
          text: "What was found could not be noted in the audit log: \(error.message)"))
    }
  }

  private init(_ known: KnownRemote, _ report: SyncReport) {
    remote = known.name.string
    isDryRun = report.isDryRun
    failure = nil
    massChange = !report.massChanges.isEmpty
    state = report.isComplete ? (isDryRun ? "looked" : "synced") : "unfinished"
    add(report)
  }

  private init(_ known: KnownRemote, isDryRun: Bool, failure: any Error) {
    remote = known.name.string
    self.isDryRun = isDryRun
    self.failure = failure
    massChange = false
    state = "failed"
    error = FailureReport(failure).message
  }

  /// A remote that cannot even be opened counts as a sync that failed.
  private static func remember(
    _ error: BlobStoreError, of known: KnownRemote, in home: (state: StateFolder, clock: WallClock)
  ) throws(SyncError) {
    let file = RemoteStateFile(state: home.state, remote: known.name)
    try file.whileLocked { () throws(SyncError) in
      var memory = try file.load()
      memory.fail(at: home.clock.milliseconds(), SyncError.remote(error).message)
      try file.store(memory)
    }
  }

  private mutating func add(_ report: SyncReport) {
    (pulledFiles, pulledBytes) = (report.pulled.fileCount, report.pulled.byteCount)
    (pushedFiles, pushedBytes) = (report.pushed.fileCount, report.pushed.byteCount)
    removedFiles = report.traffic.removeCount
    requests = report.traffic.requestCount
    changedRecords = report.changedRecordCount
    pendingCommits = report.pendingCommitCount
    problems = report.problems.map(ProblemRow.init)
    moves = report.moves.sorted { $0.path.string < $1.path.string }.map {
      MoveRow(direction: $0.direction.rawValue, path: $0.path.string, bytes: $0.byteCount)
    }
    records = report.records.sorted { $0.path.lexicographicallyPrecedes($1.path) }.map { record in
      RecordRow(
        direction: record.direction.rawValue, path: record.path.map(\.string),
        change: record.change.rawValue)
    }
  }

  /// Why it failed, or what a person should look at, in words; empty where all is well.
  var attention: [RemoteProblem] {
    let found = problems.filter { $0.severity != "note" }.map { row in
      let kind = SyncProblem.Kind(rawValue: row.kind)
      let hint = kind == .massChange ? massChangeHint.map { " \($0)" } : nil
      return RemoteProblem(
        remote: remote, kind: kind.map(RemoteProblem.Kind.init) ?? .failed,
        text: "\(row.place ?? row.path): \(row.text)\(hint ?? "")")
    }
    guard let failure, let error else { return found }
    return [RemoteProblem(remote: remote, kind: .init(of: failure), text: error)] + found
  }

  /// The same as lines for a terminal; where a sync was not complete, and nothing tells why, that.
  var shortcomings: [String] {
    var texts = attention.map(\.text)
    if texts.isEmpty, state == "unfinished" { texts = ["not complete; \(summary)"] }
    return texts.map { "\(remote): \(Terminal.visibleText($0))" }
  }

  private var massChangeHint: String? {
    massChange ? "To go on all the same: kinvault sync \(remote) --accept-mass-change" : nil
  }

  /// Something was found that a person should look at.
  var needsAttention: Bool { problems.contains { $0.severity != "note" } }

  /// This machine has become a device of its own.
  var tellsOfParting: Bool { problems.contains { $0.kind == SyncProblem.Kind.parted.rawValue } }

  func print() {
    Terminal.writeLine("\(remote): \(summary)")
    for record in records {
      let arrow = record.direction == "pull" ? "\u{2190}" : "\u{2192}"
      let path = Terminal.visible(record.path.joined(separator: "/"))
      Terminal.writeLine("  \(arrow) \(path)  (\(record.change))")
    }
    for line in revocations + handOvers { Terminal.writeLine("  \(Terminal.visible(line))") }
    for problem in problems {
      let place = problem.place ?? problem.path
      Terminal.writeLine("  \(Terminal.visible(place)): \(Terminal.visible(problem.text))")
    }
    if let massChangeHint { Terminal.writeLine("  \(massChangeHint)") }
  }

  private var summary: String {
    if let error { return "failed. \(error)" }
    var parts: [String] = []
    if pulledFiles > 0 {
      let verb = isDryRun ? "would take" : "took"
      parts.append("\(verb) \(counted(pulledFiles, "file")) (\(ByteCount.text(pulledBytes)))")
    }
    if pushedFiles > 0 {
      let verb = isDryRun ? "would put" : "put"
      parts.append("\(verb) \(counted(pushedFiles, "file")) (\(ByteCount.text(pushedBytes)))")
    }
    if removedFiles > 0 {
      parts.append("removed \(counted(removedFiles, "file")) that nothing needs any more")
    }
    if changedRecords > 0 { parts.append("\(counted(changedRecords, "record")) changed here") }
    if parts.isEmpty {
      parts.append(pendingCommits == 0 ? "in sync, nothing to do" : "nothing moved")
    }
    if pendingCommits > 0, !isDryRun {
      parts.append("\(counted(Int(clamping: pendingCommits), "change")) still pending")
    }
    return parts.joined(separator: ", ") + "."
  }
}

extension SyncTally {
  fileprivate var fileCount: Int { objectCount + registerCount + statementCount }
}

extension SyncOutcome.ProblemRow {
  init(_ problem: SyncProblem) {
    self.init(
      kind: problem.kind.rawValue, severity: problem.severity.rawValue, path: problem.path,
      text: problem.text)
  }
}
