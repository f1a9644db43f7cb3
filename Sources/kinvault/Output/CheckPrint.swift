import MachineState
import Vault
import VaultErrors
import VaultModel

/// What a check found, for people and programs.
struct CheckPrint: Encodable {
  struct ProblemRow: Encodable {
    var kind: String
    var severity: String
    var path: String
    var reason: String
    var member: String?
    var record: String?
    var item: String?
    var isOnlyInHistory: Bool

    /// Whether something that is needed is missing or damaged.
    var isLoss: Bool { severity != "note" && (kind == "missing" || kind == "damaged") }

    /// Whether it is about what somebody has written into a note, whose file is whole.
    var isOfNote: Bool { kind == "unreadableFrontMatter" || kind == "unreadableDate" }
  }

  struct RepairRow: Encodable {
    var member: String
    var records: Int
    var wentBack: [String]
    var lost: [String]
    var cut: [CutRow]
    /// What nothing vouches for, and was not taken.
    var unvouched: [UnvouchedRow]
    /// Why it could not be repaired.
    var failure: String?
  }

  struct UnvouchedRow: Encodable {
    var id: String
    var title: String
    var record: String
    var time: String
    var bytes: UInt64
    /// `notSigned`, `unprovedJoin`, `removedDevice`, `waitingDevice`, `mayNotWrite` or `unreached`.
    var refusal: String
    var signedBy: AuthorshipText.Row?
    fileprivate var reason: String

    enum CodingKeys: String, CodingKey {
      case id, title, record, time, bytes, refusal, signedBy
    }

    init(_ found: UnvouchedRevision, _ authors: AuthorshipText) {
      id = found.digest.hex
      title = found.title.string
      record = found.record.hex
      time = DateText.utc(milliseconds: found.time)
      bytes = found.byteCount
      refusal = AuthorshipText.word(found.refusal)
      signedBy = found.refusal.author.map(authors.row)
      reason = authors.reason(found.refusal)
    }

    /// For a table.
    var cells: [String] { [title, time, ByteCount.text(bytes), String(id.prefix(16)), reason] }
  }

  struct CutRow: Encodable {
    var path: String
    var files: Int
    var filesOfOlderRevisions: Int
  }

  var members: Int
  var records: Int
  var objects: Int
  var objectBytes: UInt64
  /// Kept on a remote only, in a vault cloned with --lazy.
  var awayObjects: Int
  var awayBytes: UInt64
  /// Not here and only needed by older versions: on a remote, or collected.
  var awayOlderObjects: Int
  var unusedObjects: Int
  var unusedBytes: UInt64
  var readBytes: UInt64
  var readData: Bool
  /// True if everything current can be read.
  var isWhole: Bool
  var problems: [ProblemRow]
  var repairs: [RepairRow]
  /// What a remote holds, where that was mended as well.
  var remote: RemoteCheckPrint?

  init(
    report: CheckReport, repairs: [RepairReport], readData: Bool, authors: AuthorshipText
  ) {
    members = report.memberCount
    records = max(0, report.recordCount - report.memberCount)
    objects = report.objectCount
    objectBytes = report.objectByteCount
    awayObjects = report.awayCount
    awayBytes = report.awayByteCount
    awayOlderObjects = report.awayOlderCount
    unusedObjects = report.unusedCount
    unusedBytes = report.unusedByteCount
    readBytes = report.readByteCount
    self.readData = readData
    isWhole = !report.hasDamage
    problems = report.problems.map {
      ProblemRow(
        kind: $0.kind.rawValue, severity: $0.severity.rawValue, path: $0.path,
        reason: $0.reason, member: $0.member, record: $0.record, item: $0.item,
        isOnlyInHistory: $0.isOnlyInHistory)
    }
    self.repairs = repairs.map {
      RepairRow(
        member: $0.member, records: $0.recordCount, wentBack: $0.wentBack, lost: $0.lost,
        cut: $0.cut.map {
          CutRow(path: $0.path, files: $0.keptCount, filesOfOlderRevisions: $0.takenBackCount)
        },
        unvouched: $0.unvouched.map { UnvouchedRow($0, authors) }, failure: $0.failure?.message)
    }
  }

  // MARK: For people

  /// - Parameter remotes: Those that this machine knows, by name.
  func print(remotes: [RemoteName]) {
    let remote = Self.argument(remotes)
    repairs.forEach(print(repair:))
    Terminal.writeLine(
      "Checked \(counted(members, "member")), \(countedRecords(records)), "
        + "\(counted(objects, "encrypted file")) (\(ByteCount.text(objectBytes)))"
        + (readData ? ", every byte of them." : "."))
    if awayObjects > 0 {
      Terminal.writeLine(
        "\(counted(awayObjects, "file")) (\(ByteCount.text(awayBytes))) are kept on a remote; to check those: "
          + "kinvault check --remote \(remote)")
    }
    if awayOlderObjects > 0 {
      Terminal.writeLine(
        "\(counted(awayOlderObjects, "file")) that only older versions need \(awayOlderObjects == 1 ? "is" : "are") not here: "
          + "\(awayOlderObjects == 1 ? "it is" : "they are") on a remote, or another machine has collected "
          + "\(awayOlderObjects == 1 ? "it" : "them").")
    }
    if unusedObjects > 0 {
      let reason =
        problems.contains(where: \.isLoss)
        ? "named by nothing that can be read; what is missing or damaged may name them."
        : "no longer needed here; what no other device may ask for any more goes with: kinvault collect"
      Terminal.writeLine(
        "\(counted(unusedObjects, "file")) (\(ByteCount.text(unusedBytes))) "
          + "\(unusedObjects == 1 ? "is" : "are") \(reason)")
    }
    let notes = problems.filter { $0.severity == "note" }
    let others = problems.filter { $0.severity != "note" }
    print(others, heading: "\(counted(others.count, "problem")):")
    print(notes, heading: "Worth knowing:")
    conclude(hasProblems: !others.isEmpty, remote)
  }

  /// What to type for a remote: the first one, and behind it which others there are.
  private static func argument(_ remotes: [RemoteName]) -> String {
    guard let first = remotes.first else { return "NAME" }
    let others = remotes.dropFirst().map(\.string).joined(separator: ", ")
    return others.isEmpty ? first.string : "\(first.string) (or \(others))"
  }

  private func print(repair: RepairRow) {
    if let failure = repair.failure {
      return Terminal.writeLine(
        "\(Terminal.visible(repair.member)) could not be repaired: \(Terminal.visible(failure))")
    }
    Terminal.writeLine(
      "Repaired \(Terminal.visible(repair.member)): \(countedRecords(max(0, repair.records - 1))) found."
    )
    for path in repair.wentBack {
      Terminal.writeLine(
        "  \(Terminal.visible(path)) went back to an older revision. A machine that still has the newer one brings it back "
          + "with its next sync.")
    }
    for path in repair.lost {
      Terminal.writeLine(
        "  \(Terminal.visible(path)) is lost: nothing of it can be read here. A note says so in its place, unless it was "
          + "deleted; a machine that still has it brings it back with its next sync.")
    }
    for row in repair.cut {
      Terminal.writeLine(
        "  \(Terminal.visible(row.path)) lost a part of its list of files: \(counted(row.files, "file")) stayed, "
          + "\(counted(row.filesOfOlderRevisions, "file")) came from older revisions.")
    }
    print(repair.unvouched)
  }

  /// What is about to be taken, on the terminal and never in what scripts read.
  static func show(_ wanted: [UnvouchedRevision], _ authors: AuthorshipText) {
    for found in wanted {
      let row = UnvouchedRow(found, authors)
      Terminal.note(
        "\u{201C}\(Terminal.visible(row.title))\u{201D}, \(row.time), \(ByteCount.text(row.bytes)), "
          + "\(row.id.prefix(16)): \(Terminal.visible(row.reason))")
    }
  }

  private func print(_ unvouched: [UnvouchedRow]) {
    guard let first = unvouched.first else { return }
    Terminal.writeLine(
      "  Left alone: \(counted(unvouched.count, "revision")) in the folder that nobody who may write here has signed. "
        + "Whoever once could read this member can have put such files there.")
    var table = Table("TITLE", "WRITTEN", "SIZE", "ID", "WHY")
    for row in unvouched { table.add(row.cells) }
    table.print(orElse: "")
    Terminal.writeLine(
      """
        If you know one to be right: kinvault check --repair --take \(first.id.prefix(16))
        A copy of the folder, a remote or another device that is whole brings back by itself what was really written.
        kinvault collect removes what is not taken.
      """)
  }

  private func print(_ rows: [ProblemRow], heading: String) {
    guard !rows.isEmpty else { return }
    Terminal.writeLine("\n\(heading)")
    var told: Set<String> = []
    for row in rows {
      if !row.isOfNote {
        print([row])
      } else if told.insert(row.reason).inserted {
        print(rows.filter { $0.isOfNote && $0.reason == row.reason })
      }
    }
  }

  /// Some of which the same is to be said.
  private func print(_ rows: [ProblemRow]) {
    for place in rows.map(place(of:)).sorted() {
      Terminal.writeLine("  \(Terminal.visible(place))")
    }
    for row in rows.prefix(1) {
      Terminal.writeLine("    \(rows.count > 1 ? "each: " : "")\(Terminal.visible(row.reason))")
      if !row.isOfNote, row.record != nil || row.member != nil {
        Terminal.writeLine("    encrypted file: \(Terminal.visible(row.path))")
      }
    }
  }

  private func place(of row: ProblemRow) -> String {
    guard let place = row.record ?? row.member else { return row.path }
    let file = row.item.map { "\(place)/\($0)" } ?? place
    return row.isOnlyInHistory ? "\(file) (an older revision only)" : file
  }

  private func conclude(hasProblems: Bool, _ remote: String) {
    if !hasProblems {
      Terminal.writeLine(readData ? "\nEverything is whole." : "\nEverything is in its place.")
      if !readData {
        Terminal.writeLine("To verify every byte as well: kinvault check --read-data")
      }
      return
    }
    Terminal.writeLine("\nWhat to do:")
    let advice = CheckAdvice(
      problems: problems.filter { $0.severity != "note" }, remote: remote,
      isRepaired: !repairs.isEmpty)
    for paragraph in advice.paragraphs { Terminal.writeLine(paragraph) }
  }
}
