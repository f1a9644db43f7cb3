import Vault
import VaultSync

/// What a check of a remote found, for people and programs.
struct RemoteCheckPrint: Encodable {
  var remote: String
  var members: Int
  var objects: Int
  var objectBytes: UInt64
  var unusedObjects: Int
  var unsyncedRecords: Int
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
    readBytes = report.readByteCount
    self.readData = readData
    isWhole = !report.hasDamage
    problems = report.problems.map(SyncOutcome.ProblemRow.init)
  }

  func print() {
    Terminal.writeLine(
      "Checked \(counted(members, "member")) on \(remote): \(counted(objects, "encrypted file")) "
        + "(\(ByteCount.text(objectBytes)))" + (readData ? ", every byte of them." : "."))
    if unsyncedRecords > 0 {
      Terminal.writeLine(
        "\(counted(unsyncedRecords, "record")) changed here since; to send: kinvault sync \(remote)"
      )
    }
    for problem in problems {
      Terminal.writeLine("\(Terminal.visible(problem.path)): \(Terminal.visible(problem.text))")
    }
    Terminal.writeLine(isWhole ? "\nThe copy there is whole." : "\nThe copy there is damaged.")
  }
}
