import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Bring back an older revision, or something deleted.",
    discussion: """
      Of a deleted record: the record as it was, with what was deleted together with it. Of a deleted file: the \
      file. With --revision: the record, or only the file that you name, as it was then. What is there now \
      stays in the history, so restoring can be undone as well.

      Examples:
        kinvault restore "Emma/Vaccines/2025-01-20 COVID-19"
        kinvault restore "Emma/Vaccines/2025-01-20 COVID-19/card.jpg"
        kinvault restore "Emma/Vaccines/2025-01-20 COVID-19" --revision 3f9a01bc
      """)

  @Argument(help: "A record or a file: its path, or the first digits of a record's id.")
  var record: String

  @Option(
    help: ArgumentHelp(
      "The revision to go back to, as kinvault history shows it.", valueName: "revision"))
  var revision: String?

  @Flag(help: "Do not ask before something that is there now is replaced.") var yes = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      let found = try RecordLookup(vault: vault).findAlsoDeleted(record)
      let outcome = try restore(found, in: vault)
      vault.audit.note(
        .restore, member: found.member.id, record: found.record, name: found.fileName)
      Terminal.writeLine(outcome.message)
      for (record, error) in outcome.left {
        let path = Terminal.visible(vault.shownPath(of: record, in: found.member))
        Terminal.note("kinvault: \(path) was not restored, nor what was in it. \(error.message)")
      }
      if let first = outcome.left.first { throw first.error }
    }
  }

  /// What was done, and what was not of that which went with the record.
  private struct Outcome {
    var message: String
    var left: [(record: RecordID, error: VaultError)] = []
  }

  private func restore(_ found: FoundRecord, in vault: Vault) throws -> Outcome {
    let plan = RecordRestore(found.member)
    let path = Terminal.visible(found.path.string)
    let isDeleted = found.member.entry(found.record)?.isDeleted == true
    if let name = found.fileName {
      try restore(name, of: found, plan, in: vault)
    } else if let revision {
      let wanted = try find(revision, in: found)
      if isDeleted {
        try vault.commit(plan.edits(undeleting: found.record, as: wanted), to: found.member)
      } else {
        // The person is asked about what is there now.
        let edit = try plan.edit(of: found.record, to: wanted)
        try confirm("the record \(path)")
        try vault.commit(edit, to: found.member)
      }
    } else {
      let undeletion = try plan.undeletion(of: found.record)
      guard isDeleted || undeletion.isOfAny else {
        let namesake = namesake(of: found, in: vault)
        throw CommandError.usage("\(path) is not deleted. \(try wayBack(to: found))\(namesake)")
      }
      try vault.commit(undeletion.edits, to: found.member)
      return Outcome(message: message(undeletion, path, isDeleted), left: undeletion.left)
    }
    return Outcome(message: "Restored \(path).")
  }

  private func message(_ undeletion: Undeletion, _ path: String, _ wasDeleted: Bool) -> String {
    let count = undeletion.edits.count
    if count == 0 { return "Nothing that is still deleted in \(path) can be read yet." }
    if !wasDeleted { return "Restored \(counted(count, "record")) in \(path)." }
    return count > 1
      ? "Restored \(path) and \(counted(count - 1, "record")) with it." : "Restored \(path)."
  }

  private func restore(
    _ name: FileName, of found: FoundRecord, _ plan: RecordRestore, in vault: Vault
  ) throws {
    let member = found.member
    let current = try member.item(named: name, in: found.record)
    let item: Item
    if let revision {
      let wanted = try find(revision, in: found)
      guard let old = try member.item(named: name, of: wanted) else {
        throw CommandError.notFound("The file was not there in revision \(revision).")
      }
      item = old
    } else if current == nil {
      item = try plan.deletedFile(named: name, of: found.record)
    } else {
      let path = Terminal.visible(found.path.string)
      throw CommandError.usage("\(path) is not deleted. \(try wayBack(to: found))")
    }
    if current != nil { try confirm("the file \(Terminal.visible(found.path.string))") }
    var edit = RecordEdit(record: found.record, items: [name: item])
    // What comes under the name while the person is asked is kept as a conflict.
    edit.seen[name] = current.map(SeenFile.init) ?? .nothing
    try vault.commit(edit, to: member)
  }

  /// How to go back to what something that is there was before, as commands to type.
  private func wayBack(to found: FoundRecord) throws -> String {
    let path = ShellWord.quoted(found.path.string)
    let history = try found.member.history(of: found.record)
    var before = history.dropFirst().first
    if let name = found.fileName {
      let current = try found.member.item(named: name, in: found.record)
      before = try history.first { revision in
        let item = try found.member.item(named: name, of: revision.revision)
        return item != nil && item?.content != current?.content
      }
    }
    guard let before else {
      let isDamaged = history.contains { found.member.isDamaged(before: $0.revision) }
      return isDamaged
        ? "What it was before cannot be read: kinvault check" : "No older revision of it is kept."
    }
    let time = DateText.written(milliseconds: before.revision.time.milliseconds)
    return "To see what it was before: kinvault history \(path)\n"
      + "To go back to what it was before its last change (\(time)):\n"
      + "  kinvault restore \(path) --revision \(before.digest.hex.prefix(8))"
  }

  /// How to bring back the record that stood in the place of this one and was deleted last; nothing where there is none.
  private func namesake(of found: FoundRecord, in vault: Vault) -> String {
    let lookup = RecordLookup(vault: vault)
    guard let last = lookup.deletedRecords(at: found.path.string, in: found.member).first else {
      return ""
    }
    return "\nAnother record of this path is deleted. Once what stands in its place is renamed or "
      + "moved:\n  kinvault restore \(last.record.hex.prefix(8))"
  }

  private func confirm(_ what: String) throws {
    try Confirmation.require(
      "Replace what \(what) is now? It stays in the history.", isGiven: yes)
  }

  private func find(_ digits: String, in found: FoundRecord) throws -> RecordRevision {
    let digits = digits.lowercased()
    let matches = try found.member.history(of: found.record).filter {
      digits.count >= 4 && $0.digest.hex.hasPrefix(digits)
    }
    guard matches.count <= 1 else {
      throw CommandError.usage("More than one revision begins with \(digits). Give more digits.")
    }
    guard let match = matches.first else {
      throw CommandError.notFound(
        "The record has no revision \(digits). To see those it has: kinvault history")
    }
    return match.revision
  }
}
