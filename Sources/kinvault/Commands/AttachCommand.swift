import ArgumentParser
import Vault
import VaultModel

struct AttachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Attach files or folders to a record.",
    discussion: """
      Takes them in as they are: name, time, permissions, extended attributes. The originals stay where they \
      are, unencrypted; delete them yourself if they should not.

      Example:
        kinvault attach "Emma/Vaccines/2025-01-20 COVID-19" card.jpg receipt.pdf
      """)

  @Argument(help: "The record: its path, or the first digits of its id.") var record: String
  @Argument(help: "Files and folders.", completion: .file()) var files: [String]
  @Flag(help: "Replace files of the same name; what they were stays in the history.")
  var replace = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      let found = try RecordLookup(vault: vault).record(record)
      let missingCount = try attach(to: found, of: vault)
      Terminal.writeLine(
        "Attached \(counted(files.count, "item")) to \(Terminal.visible(found.path.string)).")
      try Attachment.requireWhole(missingCount: missingCount)
    }
  }

  /// - Returns: How much of folders was left out.
  private func attach(to found: FoundRecord, of vault: Vault) throws -> Int {
    let member = found.member
    var attachment = try Attachment.find(files, for: member)
    defer { attachment.finish() }
    let folders = Set(attachment.folderNames)
    var seen: [FileName: SeenFile] = [:]
    try attachment.checkNames { name in
      // A folder is never replaced: what is in it would be mixed up.
      if member.child(named: name, of: found.record) != nil { return true }
      let item = try member.item(named: name, in: found.record)
      seen[name] = item.map(SeenFile.init) ?? .nothing
      return item != nil && (!replace || folders.contains(name))
    }
    var edit = RecordEdit(record: found.record)
    for (name, item) in try attachment.readFiles() {
      edit.items[name] = item
      // Reading takes long: what comes under the name meanwhile is kept as a conflict.
      edit.seen[name] = seen[name]
    }
    if !edit.items.isEmpty { try vault.commit(edit, to: member) }
    for name in edit.items.keys.sorted() {
      vault.audit.note(.write, member: member.id, record: found.record, name: name)
    }
    return try attachment.readFolders(into: found.record, audit: vault.audit)
  }
}
