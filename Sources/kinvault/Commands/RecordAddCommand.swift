import ArgumentParser
import Notes
import Vault
import VaultCrypto
import VaultModel

struct RecordAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a record, with its fields, a note and files.",
    discussion: """
      The record is put where its type belongs: a vaccine of 20 January 2025 titled \u{201C}COVID-19\u{201D} becomes \
      Emma/Vaccines/2025-01-20 COVID-19. Its record.md starts with the fields that such a record \
      usually has; fill in what you know now, the rest later.

      Types: \(TypeArgument.knownNames.joined(separator: ", ")). A type of your own may be \
      given as well: then the record is put right below the member.

      Example:
        kinvault record add --member Emma --type vaccine --title "COVID-19" \\
          --date 2025-01-20 --field lot=AB123 --attach card.jpg
      """)

  @Option(
    help: ArgumentHelp("Whose record it is.", valueName: "name"), completion: MemberCompletion.kind)
  var member: String

  @Option(
    help: ArgumentHelp("What kind of record it is.", valueName: "type"),
    completion: .list(TypeArgument.knownNames))
  var type = TypeArgument(.note)

  @Option(help: ArgumentHelp("What it is called.", valueName: "text"))
  var title: String

  @Option(
    help: ArgumentHelp(
      "When it happened: 2025-01-20, 20.1.2025, 2025-01 or 2025. Default: today.",
      valueName: "date"))
  var date: DateArgument?

  @Option(help: ArgumentHelp("A field; may be given more than once.", valueName: "name=value"))
  var field: [FieldArgument] = []

  @Option(help: ArgumentHelp("The text of the note.", valueName: "text"))
  var note: String?

  @Option(
    help: ArgumentHelp(
      "Take the text of the note from this file (\u{2018}-\u{2019}: standard input).",
      valueName: "file"),
    completion: .file())
  var noteFile: String?

  @Option(
    help: ArgumentHelp(
      "Attach this file or folder; may be given more than once.", valueName: "file"),
    completion: .file())
  var attach: [String] = []

  @Option(
    help: ArgumentHelp(
      "Put it into this record of the member instead: \u{201C}Visits/2025\u{201D}.",
      valueName: "path"))
  var `in`: String?

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    var id: String
    var path: String
  }

  func validate() throws {
    if note != nil, noteFile != nil {
      throw ValidationError("Give either --note or --note-file.")
    }
    guard type.isGood else {
      throw ValidationError(
        "A type has 1 to \(FrontMatter.summaryFieldLimit) bytes, of which a letter with an accent takes two or more."
      )
    }
    if field.contains(where: { $0.name == "type" }) {
      throw ValidationError("Say the type with --type: it decides where the record goes.")
    }
  }

  func run() throws {
    try access.withVault(.writing) { vault in
      let member = try RecordLookup(vault: vault).member(named: member)
      let (row, missingCount) = try add(to: member, of: vault)
      if json {
        try JSONOutput.print(row)
      } else {
        Terminal.writeLine("Added \(Terminal.visible(row.path))")
      }
      if type.known == nil {
        // It may have been typed wrong.
        Terminal.note(
          "kinvault: \u{201C}\(Terminal.visible(type.name))\u{201D} is a type of your own: it has no folder."
        )
      }
      try Attachment.requireWhole(missingCount: missingCount)
    }
  }

  /// - Returns: Also how much of folders was left out.
  private func add(to member: Member, of vault: Vault) throws -> (row: Row, missingCount: Int) {
    let date = self.date?.text ?? LocalTimeText.today()
    let title = try recordTitle(date: date)
    var (parent, edits) = try place(in: member)
    guard member.child(named: title, of: parent) == nil else {
      throw CommandError.alreadyExists(
        "There is a record \u{201C}\(Terminal.visible(title.string))\u{201D} there already. Choose another --title, "
          + "or add to it: kinvault attach, kinvault record edit")
    }
    let id = RecordID.random()
    var edit = RecordEdit(new: id, titled: title, in: parent)
    var attachment = try Attachment.find(attach, for: member)
    defer { attachment.finish() }
    try attachment.checkNames(isTaken: { $0 == .record })
    edit.items[.record] = try attachment.note(document(date: date))
    for (name, item) in try attachment.readFiles() { edit.items[name] = item }
    edits.append(edit)
    try vault.commit(edits, to: member)
    vault.audit.note(.create, member: member.id, record: id)
    let missingCount = try attachment.readFolders(into: id, audit: vault.audit)
    var names = vault.pathNames(of: member)
    return (Row(id: id.hex, path: names.path(of: id)?.string ?? title.string), missingCount)
  }

  private func recordTitle(date: String) throws -> FileName {
    guard title.contains(where: { !$0.isWhitespace }) else {
      throw CommandError.usage("A title of blanks is none. Say what the record is called: --title")
    }
    guard let name = FileName(date: date, title: title) else {
      throw CommandError.usage(
        "A title is a folder's name as well: without \u{2018}/\u{2019}, and with the date at most 255 bytes long."
      )
    }
    return name
  }

  /// Where the record goes, and the edit that makes its type's folder if that is missing.
  private func place(in member: Member) throws -> (parent: RecordID, edits: [RecordEdit]) {
    if let path = self.in {
      let path = path.hasPrefix("\(member.name.string)/") ? path : "\(member.name.string)/\(path)"
      guard let names = RecordPath(path)?.components,
        case .record(let record)? = try member.target(at: names)
      else {
        throw CommandError.notFound("There is no record \u{201C}\(Terminal.visible(path))\u{201D}.")
      }
      return (record, [])
    }
    return type.known.map { member.place(for: $0) } ?? (parent: .root, edits: [])
  }

  private func document(date: String) throws -> [UInt8] {
    let matter = FrontMatter(
      type: type.name, date: date, given: field.map { (name: $0.name, value: $0.value) })
    let text = try noteFile.map { try PlainText.read(path: $0) } ?? note ?? ""
    return matter.document(text: text)
  }
}
