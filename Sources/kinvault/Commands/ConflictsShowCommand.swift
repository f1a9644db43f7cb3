import ArgumentParser
import Vault
import VaultModel

struct ConflictsShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a version that lost, next to what the record is now.",
    discussion: """
      Example:
        kinvault conflicts show 3f9a01bc
      """)

  @Argument(help: "The conflict: the first digits of its id, or its path.") var conflict: String
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Comparison: Encodable {
    var conflict: ConflictRow
    var kept: RecordView
    var current: RecordView?
  }

  func run() throws {
    let comparison = try access.withVault(.reading) { vault in
      let (member, found) = try ConflictLookup(vault: vault).find(conflict)
      vault.audit.note(.read, member: member.id, record: found.copy.record)
      let isThere = found.original.map { !$0.isDeleted } ?? false
      return Comparison(
        conflict: ConflictRow(found, of: member, in: vault, try PersonLookup.load(of: vault)),
        kept: try view(found.copy.record, of: member, in: vault),
        current: isThere ? try view(found.mark.record, of: member, in: vault) : nil)
    }
    if json {
      try JSONOutput.print(comparison)
      return
    }
    let row = comparison.conflict
    Terminal.writeLine(
      "Written on \(Terminal.visible(row.device)), \(DateText.written(milliseconds: row.milliseconds)), and replaced:\n"
    )
    comparison.kept.print()
    Terminal.writeLine("\nNow:\n")
    if let current = comparison.current {
      current.print()
    } else {
      Terminal.writeLine("\(Terminal.visible(row.record)) is deleted.")
    }
    Terminal.writeLine(
      """

      To keep what is there now:   kinvault conflicts resolve \(row.shortID) --keep-current
      To take this version back:   kinvault conflicts resolve \(row.shortID) --take-back
      """)
  }

  private func view(
    _ record: RecordID, of member: Member, in vault: Vault
  ) throws -> RecordView {
    let shown = RecordPath(vault.shownPath(of: record, in: member))
    let path = shown ?? RecordPath(member: member.name)
    return try RecordView.load(FoundRecord(member: member, target: .record(record), path: path))
  }
}
