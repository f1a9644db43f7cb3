import Vault
import VaultErrors
import VaultModel

/// Who did what, newest first: what this person's devices noted, or what everyone with access reads of a member.
struct JournalPage {
  static let pageSize = 100

  /// What is wanted of it.
  struct Wish: Sendable {
    /// Nil for one's own log.
    var member: MemberID?
    var offset = 0
  }

  let frame: PageFrame
  let wish: Wish
  let rows: [NamedEvent]
  let hasOlder: Bool
  private let members: [(id: MemberID, name: String)]
  private let problems: [Problem]
  private let own: PersonID
  private let readsAreNoted: Bool

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws; `notFound` for a member that does not show.
  static func load(
    _ vault: Vault, _ wish: Wish, _ frame: PageFrame
  ) throws(VaultError) -> JournalPage {
    let shown = vault.shownNames
    let (events, problems): ([LoggedEvent], [Problem])
    var names: PersonNames?
    if let id = wish.member {
      guard let member = vault.member(id), member.role != nil else {
        throw .notFound(what: "the member")
      }
      (events, problems) = try vault.journal(of: member)
      names = try PersonNames.load(vault, frame.texts)
    } else {
      (events, problems) = try vault.audit.read()
    }
    let naming = EventNames(vault, others: names.map { names in { names.name(of: $0) } })
    let end = max(0, events.count - wish.offset)
    let start = max(0, end - Self.pageSize)
    return JournalPage(
      frame: frame, wish: wish, rows: events[start..<end].reversed().map(naming.naming),
      hasOlder: start > 0,
      members: vault.members.map { ($0.id, (shown[$0.id] ?? $0.name).string) },
      problems: problems, own: vault.person,
      readsAreNoted: vault.readsAreNoted.contains { $0.member == wish.member })
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { texts("journal.title") },
        filter,
        tag("p", ["class": "quiet"]) {
          texts(wish.member == nil ? "journal.own" : "journal.member")
          if readsAreNoted { " " + texts("journal.reads") }
        },
        problems.contains { $0.severity > .note }
          ? ProblemList(frame: frame, problems: problems.filter { $0.severity > .note }).html
          : .nothing,
        rows.isEmpty ? tag("p") { texts("journal.none") } : table,
        pages,
      ]))
  }

  private var filter: HTML {
    tag("form", ["method": "get", "action": "/journal", "class": "filter"]) {
      tag("label", ["for": "member"]) { texts("journal.of") }
      MemberChoice(members: members, chosen: wish.member, none: texts("journal.mine")).html
      tag("button", ["type": "submit"]) { texts("filter.go") }
    }
  }

  private var table: HTML {
    tag("table", ["class": "journal"]) {
      tableHead {
        texts("journal.when")
        texts("journal.who")
        texts("journal.did")
        texts("journal.what")
      }
      tag("tbody") { for row in rows { line(row) } }
    }
  }

  private func line(_ row: NamedEvent) -> HTML {
    let event = row.logged.event
    return tag("tr") {
      tag("td") { texts.time(milliseconds: event.time) }
      tag("td") {
        named(who(row))
        if let doubt = doubt(row) { tag("p", ["class": "error"]) { doubt } }
      }
      tag("td") {
        texts.action(event.action)
        if event.count > 1 { " " + texts("journal.times", String(event.count)) }
      }
      tag("td") {
        for (number, part) in what(row).enumerated() {
          if number > 0 { ", " }
          named(part)
        }
      }
    }
  }

  private func who(_ row: NamedEvent) -> String {
    if wish.member == nil { return row.device }
    let person = row.logged.person == own ? texts("people.ofYou") : row.person
    return row.device.isEmpty ? person : "\(person), \(row.device)"
  }

  private func what(_ row: NamedEvent) -> [String] {
    [row.path ?? row.member ?? "", row.about ?? "", detail(row.logged.event)]
      .filter { !$0.isEmpty }
  }

  /// What else is said of it; of what a sync has found what that means, as a command says exactly what it is.
  private func detail(_ event: AuditEvent) -> String {
    guard event.action == AuditAction.tampering.rawValue else {
      return texts.detail(event.detail)
    }
    let kind = event.detail.prefix { $0 != " " }
    return texts("remotes.problem.\(RemoteProblem.Kind(ofFinding: kind))")
  }

  private func doubt(_ row: NamedEvent) -> String? {
    switch row.logged.standing {
    case .counts: nil
    case .removedDevice: texts("journal.removedDevice")
    case .noAccess: texts("journal.noAccess")
    }
  }

  private var pages: HTML {
    tag("p", ["class": "pages"]) {
      if wish.offset > 0 {
        tag("a", ["href": address(from: max(0, wish.offset - Self.pageSize))]) {
          texts("list.newer")
        }
      }
      if hasOlder {
        tag("a", ["href": address(from: wish.offset + Self.pageSize)]) { texts("list.older") }
      }
    }
  }

  private func address(from offset: Int) -> String {
    "/journal?from=\(offset)" + (wish.member.map { "&member=\($0.hex)" } ?? "")
  }
}
