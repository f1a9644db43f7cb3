import Notes
import Vault
import VaultErrors
import VaultModel

/// The versions that lost, each beside what is there now.
struct ConflictsPage {
  struct Side {
    let fields: [NoteForm.Line]
    let text: String
    let files: [String]
  }

  struct Row {
    let member: MemberID
    let copy: RecordID
    let title: String
    let memberName: String
    let written: String
    let kept: Side
    /// Nil of a record that is deleted.
    let now: Side?
    let mayChange: Bool
    /// The revision of what is there now; empty of a record that is not known any more.
    let seen: String
    let seenCopy: String
  }

  let frame: PageFrame
  let rows: [Row]

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(_ vault: Vault, _ frame: PageFrame) throws -> ConflictsPage {
    let names = vault.shownNames
    let people = try PersonNames.load(vault, frame.texts)
    // One's own devices by their names, others by the person's.
    func name(of device: DeviceID) -> String {
      guard let owner = vault.owner(of: device), owner != vault.person else {
        return vault.name(of: device)
      }
      return people.name(of: owner)
    }
    let rows: [Row] = try vault.members.flatMap { member in
      try member.keptConflicts().map { conflict in
        let original = conflict.original.flatMap { $0.isDeleted ? nil : $0 }
        return Row(
          member: member.id, copy: conflict.copy.record,
          title: (conflict.original ?? conflict.copy).shownTitle,
          memberName: (names[member.id] ?? member.name).string,
          written: frame.texts(
            "conflict.written", frame.texts.time(milliseconds: conflict.mark.time.milliseconds),
            name(of: conflict.mark.device)),
          kept: try Self.side(conflict.items, of: member, frame),
          now: try original.map { try Self.now($0, of: member, frame) },
          mayChange: member.refusal == nil,
          seen: conflict.original?.revision.hex ?? "", seenCopy: conflict.copy.revision.hex)
      }
    }
    return ConflictsPage(frame: frame, rows: rows)
  }

  /// What the record holds; where it is damaged, that it cannot be read.
  private static func now(
    _ entry: RecordEntry, of member: Member, _ frame: PageFrame
  ) throws(VaultError) -> Side {
    guard let items = try ifWhole(member.contents(of: entry).0) else {
      return Side(fields: [], text: frame.texts("record.note.unreadable"), files: [])
    }
    return try side(items, of: member, frame)
  }

  private static func side(
    _ items: [Item], of member: Member, _ frame: PageFrame
  ) throws(VaultError) -> Side {
    var note = RecordDocument([])
    if let item = items.first(where: { $0.name == .record }) {
      do {
        note = RecordDocument(try member.beginning(of: item, byteCount: NoteReading.byteLimit))
      } catch {
        guard error.isDamage else { throw error }
        note = RecordDocument(Array(frame.texts("record.note.unreadable").utf8))
      }
    }
    let form = NoteForm(note)
    let files = items.map(\.name).filter { $0 != .record }
      .sortedNaturally { $0 }.map(\.string)
    return Side(fields: form.lines, text: form.text, files: files)
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { texts("conflicts.title") },
        rows.isEmpty
          ? tag("p") { texts("conflicts.none") }
          : tag("p", ["class": "quiet"]) { texts("conflicts.about") },
        .group(rows.map(row)),
      ]))
  }

  private func row(_ row: Row) -> HTML {
    tag("article", ["class": "conflict"]) {
      tag("h2") { named(row.title) }
      tag("p", ["class": "about"]) { named(row.memberName) }
      tag("div", ["class": "sides"]) {
        tag("section") {
          tag("h3") { texts("conflict.kept") }
          tag("p", ["class": "quiet"]) { row.written }
          side(row.kept, other: row.now)
        }
        tag("section") {
          tag("h3") { texts("conflict.now") }
          if let now = row.now {
            side(now, other: row.kept)
          } else {
            tag("p") { texts("conflict.deleted") }
          }
        }
      }
      if row.mayChange {
        frame.post("/conflicts/\(row.member.hex)/\(row.copy.hex)", ["class": "actions"]) {
          tag("input", ["type": "hidden", "name": "seen", "value": row.seen])
          tag("input", ["type": "hidden", "name": "copy", "value": row.seenCopy])
          tag("button", ["type": "submit", "name": "decision", "value": "keep"]) {
            texts("conflict.keep")
          }
          tag("button", ["type": "submit", "name": "decision", "value": "take"]) {
            texts("conflict.take")
          }
        }
      }
    }
  }

  /// What differs from the other side stands out.
  private func side(_ side: Side, other: Side?) -> HTML {
    .group([
      tag("dl") {
        for line in side.fields where !line.value.isEmpty {
          tag("dt") { named(texts.field(line.name)) }
          tag("dd", ["dir": "auto"]) {
            if let other, !other.fields.contains(line) {
              tag("mark") { line.value }
            } else {
              line.value
            }
          }
        }
      },
      side.text.isEmpty
        ? .nothing
        : tag("pre", ["dir": "auto"]) {
          Self.marked(side.text, other: other?.text ?? side.text)
        },
      side.files.isEmpty
        ? .nothing : tag("ul") { for file in side.files { tag("li") { named(file) } } },
    ])
  }

  /// A text whose lines stand out, but for those at its beginning and its end that are the other's too.
  static func marked(_ text: String, other: String) -> HTML {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let others = other.split(separator: "\n", omittingEmptySubsequences: false)
    let before = zip(lines, others).prefix(while: { $0 == $1 }).count
    let after = zip(lines.reversed(), others.reversed())
      .prefix(min(lines.count, others.count) - before).prefix(while: { $0 == $1 }).count
    guard before + after < lines.count else { return .text(text) }
    let start = lines[before].startIndex
    let end = lines[lines.count - after - 1].endIndex
    return .group([
      .text(String(text[..<start])), tag("mark") { String(text[start..<end]) },
      .text(String(text[end...])),
    ])
  }
}
