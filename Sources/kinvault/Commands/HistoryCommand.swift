import ArgumentParser
import Vault
import VaultModel

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "List the revisions of a record or of a file in it.",
    discussion: """
      Newest first, with what each changed and which device has signed it; of what is joined, two devices wrote the \
      parts. \u{2018}kinvault restore\u{2019} brings one back. For what was deleted: kinvault record list --deleted

      Examples:
        kinvault history "Emma/Vaccines/2025-01-20 COVID-19"
        kinvault history "Emma/Vaccines/2025-01-20 COVID-19/card.jpg"
      """)

  @Argument(help: "A record or a file: its path, or the first digits of a record's id.")
  var record: String

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let rows = try access.withVault(.reading) { vault in
      let found = try RecordLookup(vault: vault).findAlsoDeleted(record)
      return try RevisionRow.rows(of: found, in: vault)
    }
    if json {
      try JSONOutput.print(rows)
      return
    }
    var table = Table("REVISION", "TIME", "BY", "CHANGES")
    for row in rows {
      table.add([
        row.shortRevision, DateText.written(milliseconds: row.milliseconds), row.author,
        row.summary,
      ])
    }
    table.print(orElse: "No revisions.")
  }
}

/// A revision as it is listed.
private struct RevisionRow: Encodable {
  var revision: String
  var time: String
  /// `signed`, `joined` or `brought`.
  var authorship: String
  var signedBy: AuthorshipText.Row?
  /// Whose the revisions are that a join was made from.
  var joinedFrom: [AuthorshipText.Part]?
  var changes: [String]
  var milliseconds: UInt64
  var author: String

  enum CodingKeys: String, CodingKey {
    case revision, time, authorship, signedBy, joinedFrom, changes
  }

  var shortRevision: String { String(revision.prefix(8)) }

  /// The changes on one line, of many the first.
  var summary: String {
    if changes.isEmpty { return "nothing that shows" }
    let isShort = changes.count <= Self.shownCount + 1
    let shown = isShort ? changes[...] : changes.prefix(Self.shownCount)
    let rest = changes.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  private static let shownCount = 5

  static func rows(of found: FoundRecord, in vault: Vault) throws -> [RevisionRow] {
    let history = try found.member.history(of: found.record)
    let byDigest = Dictionary(uniqueKeysWithValues: history.map { ($0.digest, $0.revision) })
    var names = vault.pathNames(of: found.member)
    let authors = try AuthorshipText.load(of: vault)
    return try history.compactMap { version in
      let (digest, revision) = (version.digest, version.revision)
      let old = revision.previous.compactMap { byDigest[$0] }.first
      var changes = try found.member.changes(from: old, to: revision)
      let isCut = old == nil && !revision.previous.isEmpty
      if let file = found.fileName {
        changes = changes.filter { $0.concerns(file) }
        // Of what cannot be read nobody knows whether it had the file.
        let isDamaged = isCut && found.member.isDamaged(before: revision)
        if changes.isEmpty, !isDamaged { return nil }
      }
      let texts = changes.filter { !(isCut && $0 == .created) }.map { $0.text(&names) }
      let authorship = try found.member.authorship(of: digest)
      return RevisionRow(
        revision: digest.hex, time: DateText.utc(milliseconds: revision.time.milliseconds),
        authorship: AuthorshipText.word(authorship), signedBy: authors.row(authorship),
        joinedFrom: try authors.parts(of: authorship, digest, in: found.member)?
          .map(authors.part),
        changes: isCut ? [end(before: revision, in: found.member)] : texts,
        milliseconds: revision.time.milliseconds, author: authors.short(authorship))
    }
  }

  private static func end(before revision: RecordRevision, in member: Member) -> String {
    member.isDamaged(before: revision)
      ? "what came before cannot be read: kinvault check" : "what came before is no longer kept"
  }
}

extension RecordChange {
  fileprivate func concerns(_ file: FileName) -> Bool {
    switch self {
    case .added(let name), .removed(let name), .changed(let name), .fileAttributes(let name):
      name == file
    case .unreadableFiles: true
    default: false
    }
  }

  fileprivate func text(_ names: inout RecordPathNames) -> String {
    switch self {
    case .created: "created"
    case .deleted: "deleted"
    case .restored: "restored"
    case .renamed(let title): "renamed from \u{201C}\(title.string)\u{201D}"
    case .moved(let parent):
      "moved from \(parent.flatMap { names.path(of: $0)?.string } ?? "elsewhere")"
    case .attributes: "attributes"
    case .unreadableFiles: "files that cannot be read: kinvault check"
    case .added(.record): "note added"
    case .removed(.record): "note removed"
    case .changed(.record): "note changed"
    case .added(let name): "+\(name.string)"
    case .removed(let name): "\u{2212}\(name.string)"
    case .changed(let name): "\(name.string) changed"
    case .fileAttributes(let name): "attributes of \(name.string)"
    }
  }
}
