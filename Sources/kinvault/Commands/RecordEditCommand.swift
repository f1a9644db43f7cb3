import ArgumentParser
import Glibc
import Notes
import Vault
import VaultErrors
import VaultFiles
import VaultModel
import VaultPlain

struct RecordEditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Edit a record's note and fields in your editor.",
    discussion: """
      Opens record.md in $VISUAL, else $EDITOR, else vi. While you edit, the text is in a folder in memory \
      that only you can read; when it is saved, it is wiped. What the record was stays in its history.

      Example:
        kinvault record edit "Emma/Vaccines/2025-01-20 COVID-19"
      """)

  @Argument(help: "The record: its path, or the first digits of its id.") var record: String
  @Flag(help: "Edit on disk where there is no folder in memory.") var allowDisk = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      let found = try RecordLookup(vault: vault).record(record)
      try edit(found, of: vault)
    }
  }

  private func edit(_ found: FoundRecord, of vault: Vault) throws {
    // Nobody types what cannot be saved.
    if let refusal = found.member.refusal { throw refusal }
    let before = try note(of: found)
    try TextEditor.edit(before.bytes, named: "record.md", allowsDisk: allowDisk) { new in
      guard new != before.bytes else {
        Terminal.writeLine("Nothing was changed.")
        return
      }
      try save(new, over: before, to: found, of: vault)
    }
  }

  private func save(
    _ new: [UInt8], over before: NoteReading, to found: FoundRecord, of vault: Vault
  ) throws {
    let member = found.member
    warnAboutFields(new)
    _ = try member.refresh()
    var files = FileImport(into: member, mediaType: { MediaType.of($0, mode: $1) })
    let name = target(for: before, in: member)
    let item = try files.item(forContent: new, named: name, modified: .now)
    try vault.commit(edit(before, with: item, in: member), to: member)
    vault.audit.note(.write, member: member.id, record: found.record, name: name)
    if member.entry(found.record)?.isDeleted ?? true {
      Terminal.writeLine(
        "The record was deleted meanwhile, and stays so. Your text is kept as a conflict: kinvault conflicts list. To bring "
          + "the record back with your text: kinvault conflicts resolve ID --take-back")
    } else if name == .record {
      // Somebody else may have moved or renamed it meanwhile.
      let path = vault.shownPath(of: found.record, in: member)
      Terminal.writeLine("Saved \(Terminal.visible(path)).")
    } else {
      Terminal.writeLine(
        "The record was changed by someone else meanwhile. Your text is kept next to it, as "
          + "\(Terminal.visible(name.string)); put the two together yourself.")
    }
  }

  private func note(of found: FoundRecord) throws -> NoteReading {
    do {
      return try NoteReading.load(of: found.record, in: found.member)
    } catch {
      guard case .limit = error else { throw error }
      throw CommandError.refused("The note is larger than 1 MB; edit it in the mounted folder.")
    }
  }

  /// The edit that saves the text as the file that it is to be.
  ///
  /// - Parameter item: Of the name that `target` gives.
  private func edit(_ before: NoteReading, with item: Item, in member: Member) -> RecordEdit {
    if item.name == .record, isUnchanged(before, in: member) {
      return before.edit(replacingBy: item)
    }
    var edit = RecordEdit(record: before.record, items: [item.name: item])
    edit.seen[item.name] = .nothing
    return edit
  }

  private func isUnchanged(_ before: NoteReading, in member: Member) -> Bool {
    // Where that cannot be told the text is kept all the same.
    guard let now = try? NoteReading.load(of: before.record, in: member) else { return false }
    return now.isSame(as: before)
  }

  /// `record.md`, or another name, which is free, if the note has changed since it was opened.
  private func target(for before: NoteReading, in member: Member) -> FileName {
    // A deleted record shows nothing beside which the text could stand: it becomes a conflict, and whoever takes that back has
    // it as the note.
    if member.entry(before.record)?.isDeleted ?? true { return .record }
    if isUnchanged(before, in: member) { return .record }
    let time = DateText.local(milliseconds: UInt64(FileTimestamp.now.seconds) * 1000)
      .filter { $0 != ":" }
    var number = 1
    while true {
      let ending = number == 1 ? "" : " (\(number))"
      guard let name = FileName("record - offline conflict \(time)\(ending).md") else {
        preconditionFailure("a time is a name")
      }
      // Where that cannot be read the text is written all the same, and the commit says what is wrong.
      guard let isTaken = try? member.hasAnything(named: name, in: before.record), isTaken else {
        return name
      }
      number += 1
    }
  }

  private func warnAboutFields(_ text: [UInt8]) {
    do { _ = try RecordDocument(text).frontMatter() } catch {
      Terminal.note(
        "kinvault: The fields at the top cannot be read (\(error.message)). The text is saved as it is; "
          + "mend it with kinvault record edit.")
    }
  }
}
