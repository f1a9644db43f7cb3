import ArgumentParser
import Search
import Vault
import VaultModel

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find records by words in their titles, fields, notes and files.",
    discussion: """
      Looks in titles, fields, notes, names of files, and in attached PDFs, text and CSV files, newest first. All words have to be \
      there, in any order, small or capital, with or without accents. A word also finds longer ones that begin with \
      it, and from four letters on those that have it inside; one of them may stand in the name of a folder above. What \
      stands in quotation marks has to be there as it stands.

      The first search reads all records; what it learns is kept, encrypted, on this machine (kinvault derived). The audit \
      log says that was searched, and neither the words nor what was found.

      Examples:
        kinvault search penic
        kinvault search emma tetanus --since 2020
        kinvault search '"sore arm"' --json
      """)

  @Argument(help: "What to look for.") var words: [String]
  @OptionGroup var filter: RecordFilter

  @Option(help: ArgumentHelp("Show so many at most.", valueName: "number")) var limit = 50

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  /// More than anybody reads, and than 100,000 records are.
  private static let greatestLimit = 1_000_000

  func validate() throws {
    guard (1...Self.greatestLimit).contains(limit) else {
      throw ValidationError("--limit is a number from 1 to \(Self.greatestLimit).")
    }
  }

  func run() throws {
    let (rows, total, caveats) = try access.withVault(.reading) { vault in
      let members = try filter.members(in: vault)
      let search = try RecordSearch.begin(vault)
      let query = search.index.query(words.joined(separator: " "))
      let caveats = try filter.caveats(of: members, in: vault)
      if query.isEmpty { return ([Row](), 0, caveats) }
      try search.catchUp(members)
      vault.audit.note(.search, member: filter.member == nil ? nil : members.first?.id)
      let found = try search.index.find(
        query, in: members, limit: limit, isWanted: filter.isWanted)
      var names: [MemberID: RecordPathNames] = [:]
      let rows = try found.hits.map { hit in
        var paths = names[hit.member.id] ?? vault.pathNames(of: hit.member)
        let path = paths.path(of: hit.entry.record)
        names[hit.member.id] = paths
        return Row(hit, path: path, try search.index.excerpt(of: hit, query))
      }
      return (rows, found.total, caveats)
    }
    if json { try JSONOutput.print(rows.map(\.json)) } else { print(rows, total: total) }
    if !json, caveats.leavesOutDates || rows.contains(where: \.entry.hasUnreadableDate) {
      Terminal.note(RecordEntry.unreadableDateNote)
    }
    if caveats.mayLackRecords { throw CommandError.problemsFound }
  }

  private struct Row {
    let entry: RecordEntry
    let member: FileName
    /// Of the record.
    let record: RecordPath
    /// Of the record, or of the file in which it was found.
    let path: RecordPath
    let excerpt: Excerpt

    init(_ hit: VaultSearch.Hit, path: RecordPath?, _ excerpt: Excerpt) {
      entry = hit.entry
      member = hit.member.name
      // What cannot be reached from the root has a title all the same.
      let record = path ?? RecordPath(member: member, components: [entry.title])
      self.record = record
      self.path =
        excerpt.file.map {
          RecordPath(member: record.member, components: record.components + [$0])
        } ?? record
      self.excerpt = excerpt
    }

    var json: RecordRow {
      var row = RecordRow(entry, of: member, at: path.string, bytes: path.bytes)
      row.record = record.string
      row.foundIn = excerpt.part.rawValue
      row.excerpt = excerpt.text
      return row
    }
  }

  private func print(_ rows: [Row], total: Int) {
    guard !rows.isEmpty else {
      Terminal.writeLine("Nothing was found.")
      return
    }
    let dates = rows.map { DisplayWidth.of(Terminal.visible($0.entry.listedDate)) }.max() ?? 0
    let width = Terminal.width(of: 1)
    for row in rows {
      let date = DisplayWidth.pad(Terminal.visible(row.entry.listedDate), to: dates)
      Terminal.writeLine((dates > 0 ? "\(date)  " : "") + Terminal.visible(row.path.string))
      guard !row.excerpt.text.isEmpty else { continue }
      let indent = String(repeating: " ", count: dates > 0 ? dates + 2 : 2)
      let excerpt = Terminal.visible(row.excerpt.text)
      Terminal.writeLine(
        indent
          + (width.map { DisplayWidth.cut(excerpt, to: max(20, $0 - indent.count)) } ?? excerpt))
    }
    guard total > rows.count else { return }
    Terminal.note(
      "The newest \(rows.count) of \(counted(total, "record")). To see more: --limit \(total)")
  }
}
