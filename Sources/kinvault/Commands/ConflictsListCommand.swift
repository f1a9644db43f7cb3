import ArgumentParser
import Vault
import VaultModel

struct ConflictsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the versions that lost and are kept.",
    discussion: """
      Example:
        kinvault conflicts list --json
      """)

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    let rows = try access.withVault(.reading) { vault -> [ConflictRow] in
      let people = try PersonLookup.load(of: vault)
      return try vault.members.flatMap { member in
        for copy in try member.unreadableConflicts() {
          let path = Terminal.visible(vault.shownPath(of: copy.record, in: member))
          Terminal.note("kinvault: \(path) cannot be read: kinvault check")
        }
        return try member.keptConflicts().map { ConflictRow($0, of: member, in: vault, people) }
      }
    }
    if json {
      try JSONOutput.print(rows)
      return
    }
    var table = Table(columns: [
      .init(heading: "ID"), .init(heading: "RECORD", isCut: true), .init(heading: "WRITTEN"),
      .init(heading: "ON", isCut: true), .init(heading: "HOLDS"),
    ])
    for row in rows {
      table.add([
        row.shortID, row.record, DateText.written(milliseconds: row.milliseconds), row.device,
        row.files.joined(separator: ", "),
      ])
    }
    table.print(orElse: "No conflicts.")
    if !rows.isEmpty {
      Terminal.writeLine(
        "\nTo see one: kinvault conflicts show ID. To decide: kinvault conflicts resolve ID")
    }
  }
}

/// A conflict as it is listed.
struct ConflictRow: Encodable {
  var id: String
  var member: String
  /// Where the record is that the version is of.
  var record: String
  /// The copy's path in the mounted view.
  var copy: String
  var device: String
  var written: String
  var isRecordDeleted: Bool
  var files: [String]
  let milliseconds: UInt64

  enum CodingKeys: String, CodingKey {
    case id, member, record, copy, device, written, isRecordDeleted, files
  }

  var shortID: String { String(id.prefix(8)) }

  init(
    _ conflict: KeptConflict, of member: Member, in vault: Vault, _ people: PersonLookup
  ) {
    id = conflict.copy.record.hex
    self.member = member.name.string
    record = vault.shownPath(of: conflict.mark.record, in: member)
    copy = vault.shownPath(of: conflict.copy.record, in: member)
    device = people.name(of: conflict.mark.device, in: vault)
    milliseconds = conflict.mark.time.milliseconds
    written = DateText.utc(milliseconds: milliseconds)
    isRecordDeleted = conflict.original?.isDeleted ?? true
    files = conflict.items.map(\.name.string).sorted()
  }
}

/// Finds the conflict that a person names by the first digits of its id or by its path.
struct ConflictLookup {
  let vault: Vault

  /// - Throws: `notFound` when none fits, `usage` when more than one does.
  func find(_ text: String) throws -> (member: Member, conflict: KeptConflict) {
    var matches: [(Member, KeptConflict)] = []
    for member in vault.members {
      for conflict in try member.keptConflicts() {
        let digits = text.lowercased()
        let isID = digits.count >= 4 && conflict.copy.record.hex.hasPrefix(digits)
        if isID || vault.shownPath(of: conflict.copy.record, in: member) == text {
          matches.append((member, conflict))
        }
      }
    }
    guard matches.count <= 1 else {
      throw CommandError.usage("More than one conflict begins with \(text). Give more digits.")
    }
    guard let match = matches.first else {
      throw CommandError.notFound(
        "There is no conflict \u{201C}\(Terminal.visible(text))\u{201D}. To see all: kinvault conflicts list"
      )
    }
    return match
  }
}
