import Glibc
import Notes
import Vault
import VaultErrors
import VaultModel

/// A record as it is shown.
struct RecordView: Encodable {
  struct FileRow: Encodable {
    var name: String
    var nameBytes: String?
    var size: UInt64
    var mediaType: String
    var modified: String
    var kind: String
  }

  var id: String
  var path: String
  var pathBytes: String?
  var changed: String
  /// Of the newest revision: `signed`, `joined` or `brought`.
  var authorship: String?
  var signedBy: AuthorshipText.Row?
  /// Whose the revisions are that it was joined from.
  var joinedFrom: [AuthorshipText.Part]?
  /// When and by whom, as people read it.
  private var changedText: String?
  var fields: [FieldRow]
  /// Why the fields could not be read.
  var problem: String?
  var text: String
  var files: [FileRow]
  /// Whether there may be others, in a part of the record's list of files that cannot be read.
  var lacksFiles: Bool
  var records: [String]

  enum CodingKeys: String, CodingKey {
    case id, path, pathBytes, changed, authorship, signedBy, joinedFrom, fields, problem,
      text, files, lacksFiles, records
  }

  /// - Parameter authors: Nil where it does not matter whose it is: a conflict's copy is signed by the device that kept it.
  static func load(_ found: FoundRecord, authors: AuthorshipText? = nil) throws -> RecordView {
    let member = found.member
    guard let entry = member.entry(found.record) else {
      throw VaultError.notFound(what: "the record")
    }
    let revision = try member.revision(entry.revision)
    let readable = try member.readableItems(of: revision)
    var view = RecordView(
      id: entry.record.hex, path: found.path.string,
      pathBytes: JSONOutput.hexUnlessText(found.path.bytes),
      changed: DateText.utc(milliseconds: entry.time.milliseconds), fields: [], text: "",
      files: readable.items.filter { $0.name != .record }
        .sortedNaturally(by: \.name).map(FileRow.init),
      lacksFiles: !readable.gaps.isEmpty,
      records: member.children(of: entry.record).map(\.title)
        .sortedNaturally { $0 }.map(\.string))
    if let authors { try view.takeAuthorship(of: entry, in: member, authors) }
    try view.takeNote(of: revision, in: member)
    return view
  }

  private mutating func takeAuthorship(
    of entry: RecordEntry, in member: Member, _ authors: AuthorshipText
  ) throws {
    let whose = try member.authorship(of: entry.revision)
    authorship = AuthorshipText.word(whose)
    signedBy = authors.row(whose)
    let parts = try authors.parts(of: whose, entry.revision, in: member)
    joinedFrom = parts?.map(authors.part)
    let time = DateText.written(milliseconds: entry.time.milliseconds)
    changedText = "Changed last: \(time), \(authors.long(whose, parts: parts))."
  }

  private mutating func takeNote(of revision: RecordRevision, in member: Member) throws {
    if let item = revision.document, !item.isDeleted {
      let document = RecordDocument(try member.beginning(of: item, byteCount: Self.noteLimit))
      text = String(decoding: document.text, as: UTF8.self)
      do {
        fields = try document.frontMatter()?.fields.map(FieldRow.init) ?? []
      } catch {
        problem = error.message
        text = String(decoding: document.bytes, as: UTF8.self)
      }
    }
  }

  /// The longest note that is shown.
  private static let noteLimit = 1 << 20

  func print() {
    Terminal.writeLine(Terminal.visible(path))
    if let changedText { Terminal.writeLine(changedText) }
    if let problem {
      Terminal.writeLine("Its fields cannot be read: \(problem)")
      Terminal.writeLine("Nothing is lost; mend the text with: kinvault record edit")
    }
    let shown = fields.filter { !$0.text.isEmpty }
    let width = shown.map { DisplayWidth.of($0.name) }.max() ?? 0
    for field in shown {
      let name = DisplayWidth.pad(Terminal.visible(field.name), to: width)
      Terminal.writeLine("  \(name)  \(Terminal.visible(field.text))")
    }
    let body = text.drop(while: \.isNewline)
    if !body.isEmpty {
      Terminal.writeLine()
      Terminal.write(Terminal.visibleText(String(body)))
      if body.last?.isNewline == false { Terminal.writeLine() }
    }
    printFiles()
    if lacksFiles {
      Terminal.writeLine("\nA part of its list of files cannot be read. See: kinvault check")
    }
    if !records.isEmpty {
      Terminal.writeLine("\nContains: \(records.map(Terminal.visible).joined(separator: ", "))")
    }
  }

  private func printFiles() {
    guard !files.isEmpty else { return }
    Terminal.writeLine()
    var table = Table(columns: [
      .init(heading: "ATTACHED"), .init(heading: "SIZE", alignment: .right),
      .init(heading: "TYPE"),
    ])
    for file in files {
      let isFile = file.kind == "file"
      table.add([
        file.name, isFile ? ByteCount.text(file.size) : "", isFile ? file.mediaType : file.kind,
      ])
    }
    table.print(orElse: "")
  }
}

extension RecordView {
  /// A field and its value as one line of text.
  struct FieldRow: Encodable {
    var name: String
    var text: String

    init(_ field: FrontMatter.Field) {
      name = field.name
      text = Self.text(of: field.value)
    }

    private static func text(of value: FrontMatter.Value) -> String {
      switch value {
      case .text(let text): text
      case .list(let values): values.map(text(of:)).joined(separator: ", ")
      case .map(let fields):
        fields.map { "\($0.name): \(text(of: $0.value))" }.joined(separator: ", ")
      }
    }
  }
}

extension RecordView.FileRow {
  init(_ item: Item) {
    name = item.name.string
    nameBytes = JSONOutput.hexUnlessText(item.name.bytes)
    size = item.size
    mediaType = item.mediaType
    modified = DateText.utc(milliseconds: item.modified.milliseconds)
    kind =
      switch item.mode & S_IFMT {
      case S_IFREG: "file"
      case S_IFLNK: "link"
      case S_IFIFO: "fifo"
      default: "other"
      }
  }
}
