import VaultErrors
import VaultSync

/// What a check of a remote found, for people and programs.
struct RemoteCheckPrint: Encodable {
  var remote: String
  var members: Int
  var objects: Int
  var objectBytes: UInt64
  var unusedObjects: Int
  var unsyncedRecords: Int
  /// Put there again.
  var mendedObjects: Int
  var readBytes: UInt64
  var readData: Bool
  var isWhole: Bool
  var problems: [SyncOutcome.ProblemRow]

  init(remote: String, report: RemoteCheckReport, readData: Bool) {
    self.remote = remote
    members = report.memberCount
    objects = report.objectCount
    objectBytes = report.objectByteCount
    unusedObjects = report.unusedCount
    unsyncedRecords = report.unsyncedRecordCount
    mendedObjects = report.mendedCount
    readBytes = report.readByteCount
    self.readData = readData
    isWhole = report.isWhole
    problems = report.problems.map(SyncOutcome.ProblemRow.init)
  }

  /// Has the paths of what was found show as a person can read them.
  mutating func name(_ paths: NamedPath) {
    for position in problems.indices {
      problems[position].place = paths.text(problems[position].path)
    }
  }

  /// Whether there is something that a person should look at.
  var hasProblems: Bool {
    problems.contains { $0.severity != Problem.Severity.note.rawValue }
  }

  private var judgement: String {
    if isWhole { return "whole" }
    let isDamaged = problems.contains { $0.severity == Problem.Severity.damage.rawValue }
    return isDamaged ? "damaged" : "not complete"
  }

  func print() {
    Terminal.writeLine(
      "Checked \(counted(members, "member")) on \(remote): \(counted(objects, "encrypted file")) "
        + "(\(ByteCount.text(objectBytes)))" + (readData ? ", every byte of them." : "."))
    if mendedObjects > 0 {
      Terminal.writeLine(
        "\(counted(mendedObjects, "file")) of them \(mendedObjects == 1 ? "was" : "were") missing or damaged there, "
          + "and \(mendedObjects == 1 ? "was" : "were") put there again.")
    }
    if unsyncedRecords > 0 {
      Terminal.writeLine(
        "\(counted(unsyncedRecords, "record")) changed here since; to send: kinvault sync \(remote)"
      )
    }
    for problem in problems {
      let place = Terminal.visible(problem.place ?? problem.path)
      Terminal.writeLine("\(place): \(Terminal.visible(problem.text))")
    }
    Terminal.writeLine("\nThe copy there is \(judgement).")
  }
}
