import Notes
import Rendering
import Vault
import VaultErrors
import VaultModel

/// What of a record can be searched.
package struct RecordText: Sendable {
  struct File: Sendable {
    var name: FileName
    /// What stands in it; empty for a file that is no text.
    var content: String
  }

  /// Of which parts it consists, as columns of the index are called.
  static let columns = ["title", "fields", "note", "files", "contents"]

  var title: String
  /// The front matter: a line for each field that has a value.
  var fields = ""
  var note = ""
  var files: [File] = []

  init(title: String) { self.title = title }

  /// The texts of `columns`.
  var texts: [String] {
    [
      title, fields, note, files.map(\.name.string).joined(separator: "\n"),
      files.map(\.content).filter { !$0.isEmpty }.joined(separator: "\n"),
    ]
  }

  /// The longest note that is searched, in bytes from its beginning.
  static let noteLimit = 1 << 20
  /// How much of the texts of a record's files is searched.
  static let contentLimit = 2 << 20

  /// A record's text as far as it can be read here.
  ///
  /// - Parameter renderer: What opens PDFs; nil for having them by their names alone.
  /// - Returns: Also what it lacks: an object that is damaged, missing, or, in a lazy vault, elsewhere. Nothing is fetched for
  ///   searching.
  static func read(
    _ entry: RecordEntry, of member: Member, _ renderer: Renderer?
  ) throws(VaultError) -> (text: RecordText, lacking: ContentDigest?) {
    var text = RecordText(title: entry.title.string)
    if entry.isBare { return (text, nil) }
    let revision: RecordRevision
    let readable: ReadableItems
    do {
      revision = try member.revision(entry.revision)
      readable = try member.readableItems(of: revision)
    } catch {
      guard error.isDamage else { throw error }
      return (text, entry.revision)
    }
    var lacking = readable.gaps.isEmpty ? nil : entry.revision
    if let note = revision.document, !note.isDeleted {
      switch try member.beginningHere(of: note, byteCount: noteLimit) {
      case .here(let bytes): text.take(note: bytes)
      case .lacking(let object): lacking = object ?? entry.revision
      }
    }
    var room = contentLimit
    for item in readable.items.sorted(by: { $0.name < $1.name }) where item.name != .record {
      var file = File(name: item.name, content: "")
      if room > 0, let form = AttachedText.Form(of: item) {
        let limit = min(room, AttachedText.byteLimit)
        switch try content(of: item, form, of: member, renderer, limit: limit) {
        case .here(let content): (file.content, room) = (content.text, room - content.byteCount)
        case .lacking(let object): lacking = object ?? entry.revision
        }
      }
      text.files.append(file)
    }
    return (text, lacking)
  }

  private mutating func take(note bytes: [UInt8]) {
    let document = RecordDocument(bytes)
    note = String(decoding: document.text, as: UTF8.self)
    do {
      let values = try document.frontMatter()?.fields ?? []
      fields = values.map(Self.line).filter { !$0.isEmpty }.joined(separator: "\n")
    } catch {
      // What cannot be read as fields is text all the same.
      note = String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The field with its value; empty where it has none.
  private static func line(_ field: FrontMatter.Field) -> String {
    let value = text(of: field.value)
    return value.isEmpty ? "" : "\(field.name): \(value)"
  }

  private static func text(of value: FrontMatter.Value) -> String {
    switch value {
    case .text(let text): text
    case .list(let values): values.map(text(of:)).filter { !$0.isEmpty }.joined(separator: ", ")
    case .map(let fields): fields.map(line).filter { !$0.isEmpty }.joined(separator: ", ")
    }
  }

  /// The text in a file, and how much of what may be read of a record it takes.
  private static func content(
    of item: Item, _ form: AttachedText.Form, of member: Member, _ renderer: Renderer?, limit: Int
  ) throws(VaultError) -> ContentHere<(text: String, byteCount: Int)> {
    switch form {
    case .plain:
      switch try member.beginningHere(of: item, byteCount: limit) {
      case .lacking(let object): return .lacking(object)
      case .here(let bytes):
        let text = AttachedText.decode(bytes, isCut: UInt64(bytes.count) < item.size)
        return .here((text, bytes.count))
      }
    case .pdf:
      guard let renderer else { return .here(("", 0)) }
      switch try PDFText.read(item, of: member, renderer) {
      case .lacking(let object): return .lacking(object)
      case .here(let text):
        let text = text.cut(to: limit)
        return .here((text, text.utf8.count))
      }
    }
  }
}
