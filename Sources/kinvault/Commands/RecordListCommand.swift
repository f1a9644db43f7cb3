import ArgumentParser
import Search
import Vault
import VaultModel

struct RecordListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List records: date, type, title and where they are.",
    discussion: """
      Lists what has a type or a date, newest first; --all lists every folder as well. Filters narrow \
      the list down.

      Examples:
        kinvault record list --member Emma --type vaccine
        kinvault record list --since 2024 --text pollen --json
        kinvault record list --deleted
      """)

  @OptionGroup var filter: RecordFilter

  @Option(
    help: ArgumentHelp(
      "Only those with this text in their path, or which “kinvault search” finds by it.",
      valueName: "text"))
  var text: String?

  @Flag(help: "Also folders without type and date.") var all = false
  @Flag(help: "List deleted records; they can be restored while they are kept.") var deleted = false
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  // A class, since sorting a hundred thousand of them by value moves each a dozen times.
  private final class Row {
    let entry: RecordEntry
    /// By which it is sorted.
    let date: String
    let member: FileName
    /// Nil for what cannot be reached from the root.
    let visible: RecordPath?
    /// What is shown of it, else of where it was.
    let path: String

    init(entry: RecordEntry, member: FileName, visible: RecordPath?, path: String) {
      self.entry = entry
      date = entry.readDate
      self.member = member
      self.visible = visible
      self.path = path
    }

    var json: RecordRow {
      var row = RecordRow(entry, of: member, at: path, bytes: visible?.bytes)
      row.deleted = entry.isDeleted
      row.unreadableFrontMatter = entry.hasUnreadableFrontMatter
      return row
    }
  }

  func run() throws {
    let (found, untypedCount, caveats) = try access.withVault(.reading) { vault in
      let members = try filter.members(in: vault)
      let found = try recordsWithText(in: members, of: vault)
      func rows(all: Bool) throws -> [Row] {
        try members.flatMap { try self.rows(of: $0, in: vault, withText: found?[$0.id], all: all) }
      }
      let listed = try rows(all: all)
      let untypedCount = try listed.isEmpty && !all ? rows(all: true).count : 0
      return (listed, untypedCount, try filter.caveats(of: members, in: vault))
    }
    let rows = found.sorted { ($1.date, $0.path) < ($0.date, $1.path) }
    if json {
      try JSONOutput.print(rows.map(\.json))
    } else {
      print(rows, untypedCount: untypedCount, leavesOutDates: !deleted && caveats.leavesOutDates)
    }
    if caveats.mayLackRecords { throw CommandError.problemsFound }
  }

  private func print(_ rows: [Row], untypedCount: Int, leavesOutDates: Bool) {
    var table = Table(columns: [
      .init(heading: "DATE"), .init(heading: "TYPE"), .init(heading: "TITLE", isCut: true),
      .init(heading: "PATH"),
    ])
    for row in rows {
      let entry = row.entry
      let type = entry.hasUnreadableFrontMatter ? "(unreadable)" : entry.type
      table.add([entry.listedDate, type, entry.shownTitle, row.path])
    }
    table.print(orElse: Self.nothing(untypedCount: untypedCount))
    if !deleted, rows.contains(where: \.entry.hasUnreadableFrontMatter) {
      Terminal.note(
        "The fields of some records cannot be read; kinvault record show PATH says why.")
    }
    if leavesOutDates || rows.contains(where: \.entry.hasUnreadableDate) {
      Terminal.note(RecordEntry.unreadableDateNote)
    }
  }

  private static func nothing(untypedCount: Int) -> String {
    let hint =
      switch untypedCount {
      case 0: ""
      case 1: " There is a folder without type and date: kinvault record list --all"
      default:
        " There are \(untypedCount) folders without type and date: kinvault record list --all"
      }
    return "No records to show.\(hint)"
  }

  /// What a search finds; nil where there is no text to look for.
  private func recordsWithText(
    in members: [Member], of vault: Vault
  ) throws -> [MemberID: Set<RecordID>]? {
    guard let text, !deleted else { return nil }
    let search = try RecordSearch.begin(vault)
    try search.catchUp(members)
    let query = search.index.query(text)
    return try members.reduce(into: [:]) { found, member in
      found[member.id] = try search.index.records(matching: query, of: member)
    }
  }

  private func rows(
    of member: Member, in vault: Vault, withText found: Set<RecordID>?, all: Bool
  ) throws -> [Row] {
    let name = member.name
    var names = vault.pathNames(of: member)
    var rows: [Row] = []
    for entry in member.allEntries()
    where entry.record != .root && entry.isDeleted == deleted && isWanted(entry, all: all) {
      let visible = names.path(of: entry.record)
      let path = visible?.string ?? member.displayPath(of: entry.record)
      let isFound = found?.contains(entry.record) ?? false
      guard try isFound || hasText(entry, path: path, member: member) else { continue }
      rows.append(Row(entry: entry, member: name, visible: visible, path: path))
    }
    return rows
  }

  private func isWanted(_ entry: RecordEntry, all: Bool) -> Bool {
    // A folder that nobody has made a record of.
    let isPlain = entry.type.isEmpty && entry.date.isEmpty && !entry.hasUnreadableFrontMatter
    return filter.isWanted(entry) && (all || deleted || filter.type != nil || !isPlain)
  }

  private func hasText(_ entry: RecordEntry, path: String, member: Member) throws -> Bool {
    guard let text = text?.lowercased() else { return true }
    if path.lowercased().contains(text) { return true }
    // Of deleted records there is no index.
    guard deleted, let document = try member.revision(entry.revision).document, !document.isDeleted
    else {
      return false
    }
    let note = try member.beginning(of: document, byteCount: 1 << 20)
    return String(decoding: note, as: UTF8.self).lowercased().contains(text)
  }
}
