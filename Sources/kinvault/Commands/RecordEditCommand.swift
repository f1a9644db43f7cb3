import ArgumentParser
import Glibc
import Vault
import VaultFiles
import VaultModel

struct RecordEditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Edit a record's note and fields in your editor.",
    discussion: """
      Opens record.md in $VISUAL, else $EDITOR, else vi. While you edit, the text is in a folder in memory \
      that only you can read; afterwards it is wiped. What the record was stays in its history.

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
    let member = found.member
    let before = try member.item(named: .record, in: found.record)
    if let size = before?.size, size > 1 << 20 {
      throw CommandError.refused("The note is larger than 1 MB; edit it in the mounted folder.")
    }
    let old = try before.map { try member.beginning(of: $0, byteCount: 1 << 20) } ?? []
    let new = try TextEditor.edit(old, named: "record.md", allowsDisk: allowDisk)
    guard new != old else {
      Terminal.writeLine("Nothing was changed.")
      return
    }
    warnAboutFields(new)
    _ = try member.refresh()
    let name = try target(for: found, before: before, in: member)
    var files = FileImport(into: member, mediaType: { MediaType.of($0, mode: $1) })
    var item = try files.item(forContent: new, named: name, modified: .now)
    if let before, name == .record {
      item.file = before.file
      item.mode = before.mode
      item.xattrs = before.xattrs
      item.linkRecords = before.linkRecords
    }
    try vault.commit(RecordEdit(record: found.record, items: [name: item]), to: member)
    vault.audit.note(.write, member: member.id, record: found.record, name: name)
    if name == .record {
      Terminal.writeLine("Saved \(Terminal.visible(found.path.string)).")
    } else {
      Terminal.writeLine(
        "The record was changed by someone else meanwhile. Your text is kept next to it, as "
          + "\(Terminal.visible(name.string)); put the two together yourself.")
    }
  }

  /// `record.md`, or another name if the note has changed since it was opened.
  private func target(for found: FoundRecord, before: Item?, in member: Member) throws -> FileName {
    let now = try member.item(named: .record, in: found.record)
    if now?.content == before?.content { return .record }
    let time = DateText.local(milliseconds: UInt64(FileTimestamp.now.seconds) * 1000)
      .filter { $0 != ":" }
    guard let name = FileName("record - offline conflict \(time).md") else {
      preconditionFailure("a time is a name")
    }
    return name
  }

  private func warnAboutFields(_ text: [UInt8]) {
    do throws(FrontMatterError) { _ = try RecordDocument(text).frontMatter() } catch {
      Terminal.note(
        "kinvault: The fields at the top cannot be read (\(error.message)). The text is saved as it is; "
          + "mend it with kinvault record edit.")
    }
  }
}
