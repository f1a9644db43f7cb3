import Notes
import Pictures
import Vault
import VaultErrors
import VaultModel

/// A record: its fields, its note, what is attached.
struct RecordPage {
  /// The longest note that is shown, in bytes.
  private static let noteLimit = 1 << 20

  struct File {
    let item: Item
    /// In a lazy vault: that it is not on this machine.
    let isAway: Bool
    let hasPicture: Bool
  }

  /// Of so many files whose names do not say what they are it is looked at what they begin with.
  private static let lookLimit = 200
  /// More folders above a record are not named.
  private static let depthLimit = 64

  let frame: PageFrame
  let shown: ShownRecord
  private let memberName: String
  private let note: NoteForm
  private let isNoteCut: Bool
  /// It is damaged or missing.
  private let lacksNote: Bool
  /// Why the fields cannot be read.
  private let problem: String?
  private let changed: String
  private let files: [File]
  private let lacksFiles: Bool
  private let children: [ShownRecord]
  /// Those in which it stands, from the top down, without the member's own.
  private let folders: [ShownRecord]
  /// It is a version that lost.
  private let isLost: Bool
  /// A version of it lost, and is kept.
  private let hasLost: Bool

  private var texts: Texts { frame.texts }
  /// Why nothing of it may be changed; nil where it may.
  private var refusal: String? { shown.refusal(texts) }

  /// - Throws: `notFound`; what reading throws.
  static func load(
    _ address: RecordAddress, in open: OpenVault, _ frame: PageFrame
  ) throws -> RecordPage {
    let vault = open.vault
    let shown = try ShownRecord(address, in: vault)
    let member = shown.member
    let revision = try member.revision(shown.entry.revision)
    let (document, lacksNote) = try Self.document(of: revision, in: member)
    let isNoteCut =
      revision.document.map { !$0.isDeleted && $0.size > UInt64(noteLimit) } ?? false
    var problem: String?
    do { _ = try document.frontMatter() } catch { problem = error.message }
    let readable = try member.readableItems(of: revision)
    let files = try Self.files(readable.items, of: member, in: open)
    let children = member.children(of: shown.entry.record)
      .sortedNaturally(by: \.title).compactMap {
        try? ShownRecord(RecordAddress(member: member.id, record: $0.record), in: vault)
      }
    let originals = try open.lostVersions.originals(in: member)
    let changed = try AuthorNames.load(vault, frame.texts).text(of: shown)
    return RecordPage(
      frame: frame, shown: shown,
      memberName: (vault.shownNames[member.id] ?? member.name).string, note: NoteForm(document),
      isNoteCut: isNoteCut, lacksNote: lacksNote, problem: problem, changed: changed,
      files: files, lacksFiles: !readable.gaps.isEmpty, children: children,
      folders: Self.folders(above: shown, in: vault),
      isLost: originals[shown.entry.record] != nil,
      hasLost: originals.values.contains(shown.entry.record))
  }

  /// The beginning of the note, and whether it is damaged or missing.
  static func document(
    of revision: RecordRevision, in member: Member
  ) throws(VaultError) -> (RecordDocument, isLacking: Bool) {
    guard let item = revision.document, !item.isDeleted else { return (RecordDocument([]), false) }
    do {
      return (RecordDocument(try member.beginning(of: item, byteCount: noteLimit)), false)
    } catch {
      guard error.isDamage else { throw error }
      return (RecordDocument([]), true)
    }
  }

  /// What is attached, as people put names in order.
  private static func files(
    _ items: [Item], of member: Member, in open: OpenVault
  ) throws -> [File] {
    var looks = 0
    return try items.filter { $0.name != .record }
      .sortedNaturally(by: \.name)
      .map { item in
        let isAway = try member.firstChunkAway(of: item, byteCount: Int(Int32.max)) != nil
        var hasPicture = !isAway && FileView.Kind(item).hasPicture
        if !isAway, item.isOfUnsaidForm, looks < lookLimit {
          looks += 1
          hasPicture = try open.pictures.form(of: item, of: member) != nil
        }
        return File(item: item, isAway: isAway, hasPicture: hasPicture)
      }
  }

  private static func folders(above shown: ShownRecord, in vault: Vault) -> [ShownRecord] {
    var folders: [ShownRecord] = []
    var entry = shown.entry
    while let parent = entry.parent, parent != .root, folders.count < depthLimit,
      let folder = try? ShownRecord(
        RecordAddress(member: shown.member.id, record: parent), in: vault)
    {
      folders.append(folder)
      entry = folder.entry
    }
    return folders.reversed()
  }

  private var isRoot: Bool { shown.entry.record == .root }

  /// Where it stands: of the member's own page, where all the others are; of others, what is above them.
  private var place: HTML {
    let member = shown.member.id
    if isRoot {
      return tag("a", ["href": "/?member=\(member.hex)"]) { texts("record.all", memberName) }
    }
    return .group([
      tag("a", ["href": RecordAddress(member: member, record: .root).path]) { named(memberName) },
      .group(
        folders.map { folder in
          .group([
            .text(" › "), tag("a", ["href": folder.address.path]) { named(folder.title) },
          ])
        }),
    ])
  }

  var document: String {
    let entry = shown.entry
    return frame.document(
      tag("article") {
        tag("div", ["class": "about"]) {
          place
          if !entry.type.isEmpty {
            " · "
            type
          }
          if !shown.date.isEmpty {
            " · "
            tag("time", ["datetime": shown.date]) { texts.date(shown.date) }
          }
        }
        tag("h1") { named(isRoot ? memberName : shown.title) }
        if entry.hasUnreadableDate {
          tag("p", ["class": "notice"]) { texts("record.badDate", entry.date) }
        }
        if isLost || hasLost {
          tag("p", ["class": "notice"]) {
            texts(isLost ? "record.lost" : "record.hasLost") + " "
            tag("a", ["href": "/conflicts"]) { texts("record.decide") }
          }
        }
        if entry.isDeleted {
          deletedNotice
        } else {
          body
        }
        tag("p", ["class": "quiet"]) {
          changed + " "
          tag("a", ["href": "\(shown.address.path)/history"]) { texts("record.history") }
        }
      })
  }

  private var deletedNotice: HTML {
    .group([
      tag("p") { texts("record.deletedNow") },
      refusal == nil
        ? frame.post("\(shown.address.path)/restore") {
          tag("button", ["type": "submit"]) { texts("record.restore") }
        } : .nothing,
    ])
  }

  private var body: HTML {
    .group([
      problem.map { reason in
        tag("p", ["class": "error"]) { texts("record.fields.unreadable", reason) }
      } ?? .nothing,
      lacksNote ? tag("p", ["class": "error"]) { texts("record.note.unreadable") } : .nothing,
      fields,
      note.isRaw
        ? tag("pre", ["dir": "auto"]) { note.text }
        : tag("div", ["class": "note", "dir": "auto"]) { Markdown.html(of: note.text) },
      isNoteCut ? tag("p", ["class": "quiet"]) { texts("file.cut") } : .nothing,
      actions,
      attached,
      contained,
    ])
  }

  private var fields: HTML {
    // What stands at the top is not said again.
    let lines = note.lines.filter {
      !["type", "date"].contains($0.name) && (!$0.value.isEmpty || $0.isComplex)
    }
    guard !lines.isEmpty else { return .nothing }
    return tag("dl") {
      for line in lines {
        tag("dt") { named(texts.field(line.name)) }
        tag("dd", ["dir": "auto"]) { value(of: line) }
      }
    }
  }

  private func value(of line: NoteForm.Line) -> HTML {
    if line.isComplex { return .text("…") }
    guard ["tags", "provider"].contains(line.name) else { return .text(line.value) }
    return frame.finding(line.values)
  }

  /// Leads to all records of it.
  private var type: HTML {
    guard let known = RecordType(parsing: shown.entry.type)?.rawValue else {
      return frame.finding([shown.entry.type])
    }
    return tag("a", ["href": "/" + ListPage.Wish(type: known).query]) { texts.type(known) }
  }

  private var actions: HTML {
    if let refusal { return tag("p", ["class": "quiet"]) { refusal } }
    return tag("div", ["class": "actions"]) {
      if !lacksNote {
        tag("a", ["class": "button", "href": "\(shown.address.path)/edit"]) { texts("record.edit") }
      }
      if !isRoot {
        tag("a", ["href": "\(shown.address.path)/move"]) { texts("record.move") }
        deletion
      }
    }
  }

  private var deletion: HTML {
    tag("details") {
      tag("summary") { texts("record.delete") }
      tag("p") { texts("record.delete.sure") }
      frame.post("\(shown.address.path)/delete") {
        tag(
          "input", ["type": "hidden", "name": "base", "value": shown.entry.revision.hex])
        tag("button", ["type": "submit", "class": "grave"]) { texts("record.delete.yes") }
      }
    }
  }

  private var attached: HTML {
    tag("section", ["class": "files"]) {
      tag("h2") { texts("record.files") }
      if files.isEmpty { tag("p", ["class": "quiet"]) { texts("record.files.none") } }
      if lacksFiles { tag("p", ["class": "error"]) { texts("record.gaps") } }
      tag("ul") { for file in files { self.file(file) } }
      if refusal == nil { drop }
    }
  }

  private func file(_ file: File) -> HTML {
    let place = shown.address.path(of: file.item.name)
    return tag("li") {
      tag("a", ["href": place]) {
        if file.hasPicture {
          tag(
            "img",
            [
              "src": "\(place)/picture", "alt": "", "loading": "lazy", "width": "128",
              "height": "128",
            ])
        }
        named(file.item.name.string)
      }
      tag("span", ["class": "quiet"]) {
        " " + texts.byteCount(file.item.size) + (file.isAway ? ", " + texts("file.away") : "")
      }
    }
  }

  private var drop: HTML {
    .group([
      tag(
        "div",
        [
          "class": "drop", "hidden": "", "data-upload": "\(shown.address.path)/files",
          "data-running": texts("upload.running"), "data-failed": texts("upload.failed"),
          "data-broken": texts("upload.broken"), "data-folder": texts("upload.folder"),
        ]
      ) {
        tag("label", ["for": "files"]) { texts("record.drop") }
        tag("input", ["id": "files", "type": "file", "multiple": ""])
        tag("ul", ["role": "status"])
      },
      tag("noscript") {
        frame.post(
          "\(shown.address.path)/files", ["enctype": "multipart/form-data", "class": "actions"]
        ) {
          tag("label", ["for": "plain-files"]) { texts("record.choose") }
          tag(
            "input",
            ["id": "plain-files", "type": "file", "name": "files", "multiple": "", "required": ""])
          tag("button", ["type": "submit"]) { texts("record.attach") }
        }
      },
    ])
  }

  private var contained: HTML {
    guard !children.isEmpty else { return .nothing }
    return tag("section") {
      tag("h2") { texts("record.contains") }
      tag("ul") {
        for child in children {
          tag("li") { tag("a", ["href": child.address.path]) { named(child.title) } }
        }
      }
    }
  }
}
