import ArgumentParser
import Vault
import VaultModel

struct MemberListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the family members.",
    discussion: """
      Example:
        kinvault member list --json
      """)

  @OptionGroup var access: AccessOptions
  @Flag(help: "Print JSON.") var json = false

  private struct Row: Encodable {
    var id: String
    var name: String
    var nameBytes: String?
    /// As the mounted view shows it.
    var shownName: String
    var records: Int
    var role: String
    var changed: String?
  }

  func run() throws {
    let (members, offers) = try access.withVault(.reading) { vault in
      let names = vault.shownNames
      return (
        vault.members.map { Summary($0, shownAs: names[$0.id] ?? $0.name) },
        try Offer.all(in: vault)
      )
    }
    for offer in offers { Terminal.note("kinvault: \(offer.line)") }
    if json {
      try JSONOutput.print(
        members.map { member in
          Row(
            id: member.id.hex, name: member.name,
            nameBytes: JSONOutput.hexUnlessText(member.nameBytes), shownName: member.shownName,
            records: member.recordCount, role: member.role,
            changed: member.changed.map(DateText.utc(milliseconds:)))
        })
      return
    }
    var table = Table(columns: [
      .init(heading: "NAME"), .init(heading: "RECORDS AND FOLDERS", alignment: .right),
      .init(heading: "LAST CHANGE"), .init(heading: "YOU ARE"),
    ])
    for member in members {
      table.add([
        member.shownName, "\(member.recordCount)",
        member.changed.map { DateText.written(milliseconds: $0) } ?? "", member.role,
      ])
    }
    table.print(orElse: "No members yet. Add one: kinvault member add NAME")
  }

  private struct Summary {
    let id: MemberID
    let name: String
    let nameBytes: [UInt8]
    /// With the beginning of the id where another one has the name.
    let shownName: String
    let recordCount: Int
    let role: String
    let changed: UInt64?

    init(_ member: Member, shownAs shown: FileName) {
      id = member.id
      shownName = shown.string
      name = member.name.string
      nameBytes = member.name.bytes
      // The member's own directory is a record, too, but not one that people count.
      recordCount = max(0, member.recordCount - 1)
      role = member.role.map { "\($0)" } ?? "no access"
      changed = member.allEntries().map(\.time).max().map(\.milliseconds)
    }
  }
}
