import Notes
import Vault
import VaultErrors
import VaultModel

/// What a record was: its versions, the newest first, with who made each and what it changed.
struct HistoryPage {
  /// Of more versions only the newest are shown.
  private static let limit = 200
  /// More changes of one version are only counted.
  private static let changeLimit = 10

  struct Row {
    let revision: ContentDigest
    let time: String
    let author: String
    let changes: [RecordChange]
    /// What came before it is not kept any more, or cannot be read.
    let isCut: Bool
    let isCutByDamage: Bool
  }

  let frame: PageFrame
  private let shown: ShownRecord
  private let rows: [Row]
  private let hasMore: Bool

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(
    _ shown: ShownRecord, in vault: Vault, _ frame: PageFrame
  ) throws(VaultError) -> HistoryPage {
    let member = shown.member
    let history = try member.history(of: shown.entry.record)
    let authors = try AuthorNames.load(vault, frame.texts)
    let known = Dictionary(history.map { ($0.digest, $0.revision) }) { first, _ in first }
    var rows: [Row] = []
    for version in history.prefix(limit) {
      let previous = version.revision.previous
      let old = previous.lazy.compactMap { known[$0] }.first
      let isCut = old == nil && !previous.isEmpty
      rows.append(
        Row(
          revision: version.digest,
          time: frame.texts.time(milliseconds: version.revision.time.milliseconds),
          author: authors.text(of: try member.authorship(of: version.digest)),
          changes: try member.changes(from: old, to: version.revision),
          isCut: isCut,
          isCutByDamage: isCut && member.isDamaged(before: version.revision)))
    }
    return HistoryPage(
      frame: frame, shown: shown, rows: rows, hasMore: history.count > rows.count)
  }

  var document: String {
    frame.document(
      tag("article") {
        tag("p") { tag("a", ["href": shown.address.path]) { "← " + texts("file.back") } }
        tag("h1") { named(shown.title) }
        tag("h2") { texts("record.history") }
        tag("table") {
          tableHead {
            texts("history.time")
            texts("history.author")
            texts("history.changes")
          }
          tag("tbody") { for row in rows { line(row) } }
        }
        if hasMore { tag("p", ["class": "quiet"]) { texts("history.more") } }
      })
  }

  private func line(_ row: Row) -> HTML {
    tag("tr") {
      tag("td") {
        tag("a", ["href": shown.address.path(of: row.revision)]) { row.time }
        if row.revision == shown.entry.revision { " (\(texts("history.now")))" }
      }
      tag("td") { row.author }
      tag("td") { changes(row) }
    }
  }

  private func changes(_ row: Row) -> HTML {
    if row.isCutByDamage { return .text(texts("history.damaged")) }
    if row.isCut { return .text(texts("history.cut")) }
    if row.changes.isEmpty { return .text(texts("history.nothing")) }
    let others = row.changes.count - Self.changeLimit
    return .group([
      .group(
        row.changes.prefix(Self.changeLimit).map { change in
          tag("p") {
            texts("history.\(change.word)")
            if let name = change.name {
              ": "
              named(name.string)
            }
          }
        }),
      others > 0 ? tag("p") { texts("history.others", String(others)) } : .nothing,
    ])
  }
}

extension RecordChange {
  /// What it is called among the page's texts.
  var word: String {
    switch self {
    case .created: "created"
    case .deleted: "deleted"
    case .restored: "restored"
    case .renamed: "renamed"
    case .moved: "moved"
    case .attributes, .fileAttributes: "attributes"
    case .unreadableFiles: "unreadable"
    case .added(.record), .removed(.record), .changed(.record): "note"
    case .added: "added"
    case .removed: "removed"
    case .changed: "changed"
    }
  }

  /// What it is about.
  fileprivate var name: FileName? {
    switch self {
    case .renamed(let name), .added(let name), .removed(let name), .changed(let name),
      .fileAttributes(let name):
      name == .record ? nil : name
    case .created, .deleted, .restored, .moved, .attributes, .unreadableFiles: nil
    }
  }
}

/// A record as one of its versions had it.
struct VersionPage {
  let frame: PageFrame
  let shown: ShownRecord
  private let version: NamedRevision
  private let about: String
  private let note: NoteForm
  private let lacksNote: Bool
  private let files: [Item]
  private let lacksFiles: Bool

  private var texts: Texts { frame.texts }

  /// - Throws: `notFound` for what is no version of the record, or is not kept any more; what reading throws.
  static func find(
    _ revision: ContentDigest, of shown: ShownRecord
  ) throws(VaultError) -> NamedRevision {
    let history = try shown.member.history(of: shown.entry.record)
    guard let found = history.first(where: { $0.digest == revision }) else {
      throw .notFound(what: "the version")
    }
    return found
  }

  /// - Throws: As `find`.
  static func load(
    _ revision: ContentDigest, of shown: ShownRecord, in vault: Vault, _ frame: PageFrame
  ) throws(VaultError) -> VersionPage {
    let member = shown.member
    let version = try find(revision, of: shown)
    let author = try AuthorNames.load(vault, frame.texts)
      .text(of: try member.authorship(of: revision))
    let time = frame.texts.time(milliseconds: version.revision.time.milliseconds)
    let (document, lacksNote) = try RecordPage.document(of: version.revision, in: member)
    let readable = try member.readableItems(of: version.revision)
    return VersionPage(
      frame: frame, shown: shown, version: version, about: "\(time), \(author).",
      note: NoteForm(document), lacksNote: lacksNote,
      files: readable.items.filter { $0.name != .record }.sortedNaturally(by: \.name),
      lacksFiles: !readable.gaps.isEmpty)
  }

  var document: String {
    frame.document(
      tag("article") {
        tag("p") {
          tag("a", ["href": "\(shown.address.path)/history"]) { "← " + texts("record.history") }
        }
        tag("h1") { named(version.revision.place.title.string) }
        tag("p", ["class": "quiet"]) { about }
        if version.revision.place.isDeleted { tag("p") { texts("history.deleted") } }
        if lacksNote { tag("p", ["class": "error"]) { texts("record.note.unreadable") } }
        note.html(texts)
        if lacksFiles { tag("p", ["class": "error"]) { texts("record.gaps") } }
        if !files.isEmpty {
          tag("h2") { texts("record.files") }
          tag("ul") {
            for file in files {
              tag("li") {
                named(file.name.string)
                tag("span", ["class": "quiet"]) { " " + texts.byteCount(file.size) }
              }
            }
          }
        }
        restoring
      })
  }

  /// A record that is deleted is brought back as a whole.
  private var restoring: HTML {
    guard version.digest != shown.entry.revision, !shown.entry.isDeleted,
      !version.revision.place.isDeleted, shown.refusal(texts) == nil
    else { return .nothing }
    return frame.post(shown.address.path(of: version.digest), ["class": "actions"]) {
      tag("input", ["type": "hidden", "name": "base", "value": shown.entry.revision.hex])
      tag("button", ["type": "submit"]) { texts("history.restore") }
      tag("span", ["class": "quiet"]) { texts("history.restore.about") }
    }
  }
}
