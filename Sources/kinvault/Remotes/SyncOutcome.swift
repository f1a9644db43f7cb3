import BlobStore
import Threads
import Vault
import VaultModel
import VaultSync

/// What a sync of one remote came to, as it is told.
struct SyncOutcome: Encodable {
  struct ProblemRow: Encodable {
    var kind: String
    var severity: String
    var path: String
    var text: String
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
  private let massChange: Bool

  enum CodingKeys: String, CodingKey {
    case remote, state, isDryRun, pulledFiles, pulledBytes, pushedFiles, pushedBytes,
      removedFiles, requests, changedRecords, pendingCommits, problems, moves, records,
      revocations, handOvers, error
  }

  /// Syncs an open vault.
  ///
  /// - Parameter others: The remotes that may have what this one has lost; it may be among them.
  init(
    syncing known: KnownRemote, _ vault: Vault, _ options: SyncOptions, others: [KnownRemote],
    showsProgress: Bool
  ) {
    let done = Guarded<(revoked: [Revocation], handedOver: [HandOverStep])>(([], []))
    self.init(
      known, options, in: (vault.state, vault.clock), showsProgress: showsProgress
    ) { store, options, progress in
      let report = try RemoteSync(
        vault: vault, remote: store, name: known.name, options: options,
        elsewhere: RemoteFiles(others.filter { $0.name != known.name })
      ).run(progress: progress)
      done.withLock { $0 = (report.revocations, report.handOvers) }
      if !options.isDryRun, !report.pulled.isEmpty { try vault.tendCache() }
      return report
    }
    let (revoked, handedOver) = done.withLock { $0 }
    revocations = Self.describe(revoked, in: vault)
    if !handedOver.isEmpty {
      // Without their names they are told by their ids.
      let people = try? PersonLookup(vault: vault)
      handOvers = handedOver.map { $0.text(in: vault, people) }
    }
  }

  /// What was done by itself about who can read what, in words.
  private static func describe(_ done: [Revocation], in vault: Vault) -> [String] {
    guard !done.isEmpty else { return [] }
    // Without their names they are told by their ids.
    let people = try? PersonLookup(vault: vault)
    return done.flatMap { revocation in
      let member = vault.member(revocation.member)?.name.string ?? revocation.member.shortHex
      func name(_ person: PersonID) -> String { people?.name(of: person) ?? person.shortHex }
      let lines =
        revocation.expired.map {
          "\(name($0))'s access to \(member) was given until a date that has passed, and has ended."
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

  /// Syncs without opening the whole vault; nil where that is not enough.
  init?(quick known: KnownRemote, _ vault: DeferredVault, _ options: SyncOptions) throws {
    let id = try vault.id
    let state = try StateFolder(root: Environment.stateRoot, vault: id)
    var settled: SyncReport?
    let outcome = SyncOutcome(
      known, options, in: (state, .system), showsProgress: false
    ) { store, options, _ in
      settled = try QuickSync(
        vault: id, folder: DirectoryStore(opening: vault.folder), state: state, remote: store,
        name: known.name, options: options
      ).run { () throws(VaultError) in
        try VaultHeads.open(
          folder: vault.folder, stateRoot: Environment.stateRoot, key: vault.unlocked.key)
      }
      return settled ?? SyncReport()
    }
    if outcome.failure == nil, settled == nil { return nil }
    self = outcome
  }

  /// Runs `sync` with the remote's store, and says what came of it.
  init(
    _ known: KnownRemote, _ options: SyncOptions, in home: (state: StateFolder, clock: WallClock),
    showsProgress: Bool,
    sync: (
      any BlobStore, SyncOptions, @escaping @Sendable (WorkProgress) -> Void
    ) throws -> SyncReport
  ) {
    var options = options
    options.threadCount = known.threadCount
    remote = known.name.string
    isDryRun = options.isDryRun
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    do {
      let store: any BlobStore
      do throws(BlobStoreError) { store = try known.open() } catch {
        // Whoever waits is told, also where it cannot be kept, or another sync is just about to say how it ends.
        do throws(SyncError) { try Self.remember(error, of: known, in: home) } catch {}
        throw error
      }
      let report = try sync(store, options) { if showsProgress { bar.update($0) } }
      failure = nil
      massChange = !report.massChanges.isEmpty
      state =
        report.isComplete ? (isDryRun ? "looked" : "synced") : "unfinished"
      add(report)
    } catch {
      let shown = FailureReport(error)
      failure = error
      massChange = false
      state = "failed"
      self.error = shown.message
    }
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

  /// Something was found that a person should look at.
  var needsAttention: Bool { problems.contains { $0.severity != "note" } }

  func print() {
    Terminal.writeLine("\(remote): \(summary)")
    for record in records {
      let arrow = record.direction == "pull" ? "\u{2190}" : "\u{2192}"
      let path = Terminal.visible(record.path.joined(separator: "/"))
      Terminal.writeLine("  \(arrow) \(path)  (\(record.change))")
    }
    for line in revocations + handOvers { Terminal.writeLine("  \(Terminal.visible(line))") }
    for problem in problems {
      Terminal.writeLine("  \(Terminal.visible(problem.path)): \(Terminal.visible(problem.text))")
    }
    if massChange {
      Terminal.writeLine(
        "  To go on all the same: kinvault sync \(remote) --accept-mass-change")
    }
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
