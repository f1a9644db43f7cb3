import Notes
import Vault
import VaultErrors
import VaultModel

/// Records, newest first.
struct ListPage {
  static let pageSize = 60

  /// What is wanted of them.
  struct Wish: Sendable {
    var member: MemberID?
    var type: String?
    /// The name of what is looked for (`SoughtWords`).
    var find: String?
    var offset = 0
    var deleted = false

    var query: String {
      var parts: [String] = []
      if let find, !deleted { parts.append("find=\(FormValues.encoded(find))") }
      if let member { parts.append("member=\(member.hex)") }
      if let type { parts.append("type=\(FormValues.encoded(type))") }
      if offset > 0 { parts.append("from=\(offset)") }
      return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }

    func isWanted(_ entry: RecordEntry) -> Bool { type == nil || entry.knownType == type }
  }

  /// Somebody whose records there are.
  struct NamedMember {
    let id: MemberID
    let name: String
    /// Whether there is a page of the member, with what is known of them as a whole.
    let hasPage: Bool

    init(_ member: Member, _ names: [MemberID: FileName]) {
      id = member.id
      name = (names[member.id] ?? member.name).string
      hasPage = member.role != nil && member.entry(.root) != nil
    }
  }

  struct Row {
    let shown: ShownRecord
    var excerpt = ""
    /// Names of what is attached.
    var files: [FileName] = []
    /// The first of these of which there may be a picture.
    var picture: FileName?
    var memberName: String
    /// It is a version that lost.
    var isLost = false
    /// Its revision, or a part of the list of its files, cannot be read.
    var isDamaged = false
  }

  let frame: PageFrame
  let wish: Wish
  let rows: [Row]
  let hasOlder: Bool
  let members: [NamedMember]
  /// Of a search: how many there are.
  var foundCount: Int?

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(_ open: OpenVault, _ wish: Wish, _ frame: PageFrame) throws -> ListPage {
    let names = open.vault.shownNames
    var rows: [Row] = []
    var passed = 0
    var hasOlder = false
    for row in open.timeline(deleted: wish.deleted) where wish.member ?? row.member == row.member {
      let address = RecordAddress(member: row.member, record: row.record)
      guard let shown = try? ShownRecord(address, in: open.vault), wish.isWanted(shown.entry),
        shown.entry.isDeleted == wish.deleted
      else { continue }
      passed += 1
      if passed <= wish.offset { continue }
      if rows.count == pageSize {
        hasOlder = true
        break
      }
      rows.append(try Self.row(of: shown, names, in: open))
    }
    return ListPage(
      frame: frame.searching("", wish), wish: wish, rows: rows, hasOlder: hasOlder,
      members: open.vault.members.map { NamedMember($0, names) })
  }

  /// What a search finds.
  static func load(
    _ open: OpenVault, finding words: String, _ wish: Wish, _ frame: PageFrame
  ) throws -> ListPage {
    let names = open.vault.shownNames
    let all = open.vault.members
    let wanted = all.filter { wish.member ?? $0.id == $0.id }
    let (found, total) = try open.find(
      words, in: wanted, limit: pageSize, isWanted: { wish.isWanted($0) })
    let rows: [Row] = try found.compactMap { found in
      let address = RecordAddress(member: found.row.member, record: found.row.record)
      guard let shown = try? ShownRecord(address, in: open.vault) else { return nil }
      var row = try Self.row(of: shown, names, in: open)
      row.excerpt = found.excerpt
      return row
    }
    return ListPage(
      frame: frame.searching(words, wish), wish: wish, rows: rows, hasOlder: false,
      members: all.map { NamedMember($0, names) }, foundCount: total)
  }

  private static func row(
    of shown: ShownRecord, _ names: [MemberID: FileName], in open: OpenVault
  ) throws(VaultError) -> Row {
    var row = Row(
      shown: shown, memberName: (names[shown.member.id] ?? shown.member.name).string)
    row.isLost = try open.lostVersions.original(of: shown.entry, in: shown.member) != nil
    if shown.entry.isBare { return row }
    do {
      let revision = try shown.member.revision(shown.entry.revision)
      let readable = try shown.member.readableItems(of: revision)
      row.isDamaged = !readable.gaps.isEmpty
      let files = readable.items.filter { $0.name != .record }.sortedNaturally(by: \.name)
      row.files = files.map(\.name)
      row.picture = files.first { FileView.Kind($0).hasPicture }?.name
    } catch {
      guard error.isDamage else { throw error }
      row.isDamaged = true
    }
    return row
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { texts(wish.deleted ? "list.deleted" : "list.title") },
        wish.deleted ? .nothing : memberLinks,
        wish.deleted ? .nothing : filter,
        results,
      ]))
  }

  /// What a search as one types takes the place of.
  var results: HTML {
    tag(
      "section",
      [
        "id": "results", "aria-live": "polite", "data-live": wish.deleted ? nil : "",
        "data-find": wish.find,
      ]
    ) {
      if let foundCount {
        tag("p") {
          foundCount > rows.count
            ? texts("list.foundOf", String(rows.count), String(foundCount))
            : foundCount == 0 ? texts("list.nothing") : texts.count(foundCount, "list.found")
        }
      } else if rows.isEmpty {
        tag("p") {
          texts(
            wish.deleted ? "list.deleted.none" : members.isEmpty ? "list.nobody" : "list.none")
        }
      }
      tag("ol", ["class": "records"]) { for row in rows { item(row) } }
      pages
    }
  }

  /// To their own pages.
  private var memberLinks: HTML {
    guard !members.isEmpty else { return .nothing }
    return tag("p", ["class": "members"]) {
      texts("list.members") + " "
      for (number, member) in members.enumerated() {
        if number > 0 { " · " }
        if member.hasPage {
          tag("a", ["href": RecordAddress(member: member.id, record: .root).path]) {
            named(member.name)
          }
        } else {
          named(member.name)
        }
      }
    }
  }

  private var filter: HTML {
    tag("form", ["method": "get", "action": "/", "class": "filter"]) {
      // What was looked for stays; a script gives it another name as somebody types.
      tag(
        "input",
        [
          "type": "hidden", "name": "find", "value": wish.find ?? "",
          "disabled": wish.find == nil ? "" : nil,
        ])
      tag("label", ["for": "member"]) { texts("filter.member") }
      MemberChoice(
        members: members.map { ($0.id, $0.name) }, chosen: wish.member, none: texts("filter.all")
      ).html
      tag("label", ["for": "type"]) { texts("filter.type") }
      tag("select", ["id": "type", "name": "type"]) {
        tag("option", ["value": "", "selected": wish.type == nil ? "" : nil]) {
          texts("filter.all")
        }
        for type in RecordType.allCases {
          tag(
            "option",
            ["value": type.rawValue, "selected": wish.type == type.rawValue ? "" : nil]
          ) { texts.type(type.rawValue) }
        }
      }
      tag("button", ["type": "submit"]) { texts("filter.go") }
    }
  }

  private func item(_ row: Row) -> HTML {
    let entry = row.shown.entry
    return tag("li", ["class": "record"]) {
      // The day of its last change, by which it is in its place, says nothing of health.
      row.shown.date.isEmpty
        ? tag("span", ["class": "day"]) { texts("list.nodate") }
        : tag("time", ["class": "day", "datetime": row.shown.date]) {
          texts.date(row.shown.date)
        }
      tag("div") {
        tag("a", ["href": row.shown.address.path, "class": "title"]) { named(row.shown.title) }
        tag("p", ["class": "about"]) {
          named(row.memberName)
          if !entry.type.isEmpty { " · " + texts.type(entry.knownType) }
          if entry.hasUnreadableDate { " · " + texts("list.badDate") }
          if row.isLost { " · " + texts("list.lost") }
          if row.isDamaged { " · " + texts("list.damaged") }
          if !row.files.isEmpty { " · " + texts.count(row.files.count, "list.files") }
        }
        if !row.excerpt.isEmpty { tag("p", ["class": "excerpt", "dir": "auto"]) { row.excerpt } }
      }
      if let picture = row.picture {
        tag(
          "img",
          [
            "src": "\(row.shown.address.path(of: picture))/picture", "alt": "", "loading": "lazy",
            "width": "72", "height": "72",
          ])
      }
    }
  }

  private var pages: HTML {
    guard wish.offset > 0 || hasOlder else { return .nothing }
    var newer = wish
    newer.offset = max(0, wish.offset - Self.pageSize)
    var older = wish
    older.offset += Self.pageSize
    let place = wish.deleted ? "/deleted" : "/"
    return tag("p", ["class": "pages"]) {
      if wish.offset > 0 {
        tag("a", ["href": place + newer.query, "rel": "prev"]) { "← " + texts("list.newer") }
      }
      if hasOlder {
        tag("a", ["href": place + older.query, "rel": "next"]) { texts("list.older") + " →" }
      }
    }
  }
}
