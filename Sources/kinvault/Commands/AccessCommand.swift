import ArgumentParser
import Vault

struct AccessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "access",
    abstract: "Show who can read what.",
    subcommands: [AccessListCommand.self])
}

struct AccessListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List who can read which member, as what, given by whom and when.",
    discussion: """
      Shows the members that you can read yourself.

      Examples:
        kinvault access list
        kinvault access list --member Emma --json
      """)

  @Option(
    help: ArgumentHelp("Only this member.", valueName: "member"), completion: MemberCompletion.kind)
  var member: String?

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    var member: String
    var person: String
    var name: String
    var role: String
    var givenBy: String
    var given: String
    var until: String?
  }

  private struct Line {
    var member: String
    var access: MemberAccess
  }

  func run() throws {
    let (lines, people) = try access.withVault(.reading) { vault in
      let members = try member.map { [try RecordLookup(vault: vault).member(named: $0)] }
      let lines = try (members ?? vault.members).flatMap { member in
        try member.accesses().map { Line(member: member.name.string, access: $0) }
      }
      return (lines, try PersonLookup(vault: vault))
    }
    if json {
      try JSONOutput.print(
        lines.map { line in
          Row(
            member: line.member, person: line.access.person.hex,
            name: people.name(of: line.access.person), role: "\(line.access.role)",
            givenBy: line.access.giver.hex, given: DateText.utc(milliseconds: line.access.time),
            until: line.access.until.map(DateText.utc(milliseconds:)))
        })
      return
    }
    var table = Table("MEMBER", "WHO", "AS", "GIVEN BY", "WHEN", "UNTIL")
    for line in lines {
      table.add([
        Terminal.visible(line.member), people.name(of: line.access.person), "\(line.access.role)",
        people.name(of: line.access.giver), DateText.local(milliseconds: line.access.time),
        line.access.until.map(DateText.local(milliseconds:)) ?? "",
      ])
    }
    table.print(orElse: "No members.")
  }
}
