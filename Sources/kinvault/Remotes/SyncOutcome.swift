import BlobStore
import MachineState
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
  private var listedFolders: Set<String> = []
  var moves: [MoveRow] = []
  var records: [RecordRow] = []
  /// Access that was taken away because it was due, and this person's own that has ended, in words.
  var revocations: [String] = []
  /// What was done about places among owners that are offered, in words.
  var handOvers: [String] = []
  var error: String?
  /// What ended it early; the others go on all the same.
  let failure: (any Error)?

  enum CodingKeys: String, CodingKey {
    case remote, state, isDryRun, pulledFiles, pulledBytes, pushedFiles, pushedBytes,
      removedFiles, requests, changedRecords, pendingCommits, problems, moves, records,
      revocations, handOvers, error
  }

  /// Of a remote that is called so.
  init(_ name: RemoteName, _ report: SyncReport) {
    remote = name.string
    isDryRun = report.isDryRun
    failure = nil
    state = report.isComplete ? (isDryRun ? "looked" : "synced") : "unfinished"
    (pulledFiles, pulledBytes) = (report.pulled.fileCount, report.pulled.byteCount)
    (pushedFiles, pushedBytes) = (report.pushed.fileCount, report.pushed.byteCount)
    removedFiles = report.traffic.removeCount
    requests = report.traffic.requestCount
    changedRecords = report.changedRecordCount
    pendingCommits = report.pendingCommitCount
    problems = report.problems.map(ProblemRow.init)
    listedFolders = report.listedFolders
    moves = report.moves.sorted { $0.path.string < $1.path.string }.map {
      MoveRow(direction: $0.direction.rawValue, path: $0.path.string, bytes: $0.byteCount)
    }
    records = report.records.sorted { $0.path.lexicographicallyPrecedes($1.path) }.map { record in
      RecordRow(
        direction: record.direction.rawValue, path: record.path.map(\.string),
        change: record.change.rawValue)
    }
  }

  init(_ name: RemoteName, isDryRun: Bool, failure: any Error) {
    remote = name.string
    self.isDryRun = isDryRun
    self.failure = failure
    state = "failed"
    error = FailureReport(failure).message
    if case .remote(let cause) = failure as? SyncError, case .denied = cause {
      error? += " " + KnownRemote.wayToNewLogin(for: name)
    }
  }

  /// Has everything show with the names that the vault has for it.
  mutating func name(_ report: SyncReport, in vault: Vault) {
    if !problems.isEmpty {
      let paths = NamedPath.load(of: vault)
      for position in problems.indices {
        problems[position].place = paths.text(problems[position].path)
      }
    }
    guard !report.revocations.isEmpty || !report.handOvers.isEmpty else { return }
    // Without their names people are told by their ids.
    let people = try? PersonLookup.load(of: vault)
    revocations = report.revocations.flatMap { $0.texts(in: vault, people) }
    handOvers = report.handOvers.map { $0.text(in: vault, people) }
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

  /// Why it failed, or what a person should look at, as lines for a terminal. Where a sync was not complete, and nothing
  /// tells why, it is said that it was not.
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

  /// A member waits for consent, and nothing of it was taken.
  var massChange: Bool { problems.contains { $0.kind == SyncProblem.Kind.massChange.rawValue } }

  /// This machine has become a device of its own.
  var tellsOfParting: Bool { problems.contains { $0.kind == SyncProblem.Kind.parted.rawValue } }

  /// - Parameter memory: Keeps which notes were told on this machine, and need not be told again; nil: all are.
  func print(keepingToldIn memory: StateFolder? = nil) {
    Terminal.writeLine("\(remote): \(summary)")
    for record in records {
      let arrow = record.direction == "pull" ? "\u{2190}" : "\u{2192}"
      let path = Terminal.visible(record.path.joined(separator: "/"))
      Terminal.writeLine("  \(arrow) \(path)  (\(record.change))")
    }
    for line in revocations + handOvers { Terminal.writeLine("  \(Terminal.visible(line))") }
    let shown = memory.map { untold(in: $0) } ?? problems
    for problem in shown {
      let place = problem.place ?? problem.path
      Terminal.writeLine("  \(Terminal.visible(place)): \(Terminal.visible(problem.text))")
    }
    if let massChangeHint { Terminal.writeLine("  \(massChangeHint)") }
  }

  /// The problems without those notes that were told before, and about which nobody can do anything.
  private func untold(in memory: StateFolder) -> [ProblemRow] {
    if isDryRun { return problems }
    let idle = problems.filter(\.isIdle)
    // Of more than that there may be others.
    let listed = idle.count < SyncReport.problemLimit ? listedFolders : []
    let new: Set<ToldNote>
    do { new = try memory.untoldNotes(idle.map(\.note), on: remote, listed: listed) } catch {
      // Where it cannot be read what was told, everything is.
      return problems
    }
    return problems.filter { !$0.isIdle || new.contains($0.note) }
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
  /// Whether it is only that something lies there which is no part of a vault: nobody has to do anything.
  fileprivate var isIdle: Bool {
    severity == Problem.Severity.note.rawValue && kind == SyncProblem.Kind.foreignFile.rawValue
  }

  /// As it is remembered that it was told.
  fileprivate var note: ToldNote { ToldNote(path: path, text: text) }

  init(_ problem: SyncProblem) {
    self.init(
      kind: problem.kind.rawValue, severity: problem.severity.rawValue, path: problem.path,
      text: problem.text)
  }
}
