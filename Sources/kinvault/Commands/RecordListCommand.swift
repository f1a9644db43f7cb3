import ArgumentParser
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

  @Option(
    help: ArgumentHelp("Only this member's.", valueName: "name"), completion: MemberCompletion.kind)
  var member: String?

  @Option(
    help: ArgumentHelp("Only records of this type.", valueName: "type"),
    completion: .list(RecordType.allValueStrings))
  var type: String?

  @Option(
    help: ArgumentHelp("Only from this date on: 2025-01-20, 2025-01 or 2025.", valueName: "date"))
  var since: DateArgument?

  @Option(
    help: ArgumentHelp("Only up to this date, this day, month or year included.", valueName: "date")
  )
  var until: DateArgument?

  @Option(
    help: ArgumentHelp(
      "Only those with this text in their path or note, in any case.", valueName: "text"))
  var text: String?

  @Flag(help: "Also folders without type and date.") var all = false
  @Flag(help: "List deleted records, which can be restored.") var deleted = false
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  // A class, since sorting a hundred thousand of them by value moves each a dozen times.
  private final class Row {
    let entry: RecordEntry
    let member: FileName
    /// Nil for what cannot be reached from the root.
    let visible: RecordPath?
    /// What is shown of it, else of where it was.
    let path: String

    init(entry: RecordEntry, member: FileName, visible: RecordPath?, path: String) {
      self.entry = entry
      self.member = member
      self.visible = visible
      self.path = path
    }
  }

  private struct JSONRow: Encodable {
    var id: String
    var member: String
    var path: String
    var pathBytes: String?
    var title: String
    var type: String
    var date: String
    var changed: String
    var deleted: Bool
    var unreadableFrontMatter: Bool

    init(_ row: Row) {
      let entry = row.entry
      id = entry.record.hex
      member = row.member.string
      path = row.path
      pathBytes = row.visible.flatMap { JSONOutput.hexUnlessText($0.bytes) }
      title = RecordListCommand.title(of: entry)
      type = entry.type
      date = entry.date
      changed = DateText.utc(milliseconds: entry.time.milliseconds)
      deleted = entry.isDeleted
      unreadableFrontMatter = entry.hasUnreadableFrontMatter
    }
  }

  func run() throws {
    let (found, untypedCount) = try access.withVault(.reading) { vault in
      let lookup = RecordLookup(vault: vault)
      let members = try member.map { [try lookup.member(named: $0)] } ?? vault.members
      func rows(all: Bool) throws -> [Row] {
        try members.flatMap { try self.rows(of: $0, in: vault, all: all) }
      }
      let found = try rows(all: all)
      return (found, try found.isEmpty && !all ? rows(all: true).count : 0)
    }
    let rows = found.sorted { ($1.entry.date, $0.path) < ($0.entry.date, $1.path) }
    if json {
      try JSONOutput.print(rows.map(JSONRow.init))
      return
    }
    var table = Table("DATE", "TYPE", "TITLE", "PATH")
    for row in rows {
      let entry = row.entry
      let type = entry.hasUnreadableFrontMatter ? "(unreadable)" : entry.type
      table.add([entry.date, type, Self.title(of: entry), row.path])
    }
    table.print(orElse: Self.nothing(untypedCount: untypedCount))
    if !deleted, rows.contains(where: \.entry.hasUnreadableFrontMatter) {
      Terminal.note(
        "The fields of some records cannot be read; kinvault record show PATH says why.")
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

  private func rows(of member: Member, in vault: Vault, all: Bool) throws -> [Row] {
    let name = member.name
    var names = vault.pathNames(of: member)
    var rows: [Row] = []
    for entry in member.allEntries()
    where entry.record != .root && entry.isDeleted == deleted && isWanted(entry, all: all) {
      let visible = names.path(of: entry.record)
      let path = visible?.string ?? member.displayPath(of: entry.record)
      guard try hasText(entry, path: path, member: member) else { continue }
      rows.append(Row(entry: entry, member: name, visible: visible, path: path))
    }
    return rows
  }

  private func isWanted(_ entry: RecordEntry, all: Bool) -> Bool {
    if let type {
      let wanted = RecordType(parsing: type)?.rawValue ?? type
      let found = RecordType(parsing: entry.type)?.rawValue ?? entry.type
      guard wanted.lowercased() == found.lowercased() else { return false }
    } else if !all, !deleted, entry.type.isEmpty, entry.date.isEmpty,
      !entry.hasUnreadableFrontMatter
    {
      return false
    }
    if let since, entry.date < since.text { return false }
    // `2024` ends with the year's last day.
    if let until, entry.date.isEmpty || entry.date.prefix(until.text.count) > until.text {
      return false
    }
    return true
  }

  private func hasText(_ entry: RecordEntry, path: String, member: Member) throws -> Bool {
    guard let text = text?.lowercased() else { return true }
    if path.lowercased().contains(text) { return true }
    guard let document = try member.revision(entry.revision).document, !document.isDeleted else {
      return false
    }
    let note = try member.beginning(of: document, byteCount: 1 << 20)
    return String(decoding: note, as: UTF8.self).lowercased().contains(text)
  }

  /// The title without the date that it begins with.
  private static func title(of entry: RecordEntry) -> String {
    let title = entry.title.string
    let date = entry.date + " "
    guard date.utf8.count > 1, title.utf8.starts(with: date.utf8) else { return title }
    return String(title[title.utf8.index(title.startIndex, offsetBy: date.utf8.count)...])
  }
}
