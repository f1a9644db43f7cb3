import Vault
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
  /// - Returns: Also what it lacks: an object that is damaged, missing, or, in a lazy vault, elsewhere. Nothing is fetched for
  ///   searching.
  static func read(
    _ entry: RecordEntry, of member: Member
  ) throws(VaultError) -> (text: RecordText, lacking: ContentDigest?) {
    var text = RecordText(title: entry.title.string)
    if entry.isBare { return (text, nil) }
    let revision: RecordRevision
    let readable: ReadableItems
    do throws(VaultError) {
      revision = try member.revision(entry.revision)
      readable = try member.readableItems(of: revision)
    } catch {
      guard error.isDamage else { throw error }
      return (text, entry.revision)
    }
    var lacking = readable.gaps.isEmpty ? nil : entry.revision
    if let note = revision.document, !note.isDeleted {
      switch try bytes(of: note, of: member, limit: noteLimit) {
      case .here(let bytes): text.take(note: bytes)
      case .lacking(let object): lacking = object ?? entry.revision
      }
    }
    var room = contentLimit
    for item in readable.items.sorted(by: { $0.name < $1.name }) where item.name != .record {
      var file = File(name: item.name, content: "")
      if room > 0, let form = AttachedText.Form(of: item) {
        switch try bytes(of: item, of: member, limit: min(room, AttachedText.byteLimit)) {
        case .here(let bytes):
          file.content = form.text(of: bytes, isCut: UInt64(bytes.count) < item.size)
          room -= bytes.count
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
    do throws(FrontMatterError) {
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

  private enum Content {
    case here([UInt8])
    /// The object that is elsewhere; nil where something is damaged or missing.
    case lacking(ContentDigest?)
  }

  private static func bytes(
    of item: Item, of member: Member, limit: Int
  ) throws(VaultError) -> Content {
    do throws(VaultError) {
      if let away = try member.firstChunkAway(of: item, byteCount: limit) { return .lacking(away) }
      return .here(try member.beginning(of: item, byteCount: limit))
    } catch {
      guard error.isDamage else { throw error }
      return .lacking(nil)
    }
  }
}
