import ArgumentParser
import Vault
import VaultModel

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
      Shows the members that you can read yourself; also whose access is about to end, because they gave it up, \
      because its date has passed, or because taking it away was interrupted. The next sync of an owner sees to it.

      Owners come first, in their order: each can take out who comes after, and nobody who comes before. Who is made an \
      owner comes last; kinvault hand-over gives a place to somebody else.

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
    /// Among the owners, who stand in an order: 1 is the most senior.
    var place: Int?
    var givenBy: String
    var given: String
    var until: String?
    /// What is left of it with an owner's next sync: a role, or "nothing"; absent if nothing was given up.
    var keeps: String?
    /// Of an interrupted `unshare`: how many files are left to be encrypted anew.
    var filesLeft: Int?
  }

  private struct Line {
    var member: String
    var access: MemberAccess

    /// What the person may do, and what will be left of it.
    var role: String {
      if let removal = access.removal {
        return "\(access.role), being taken away: \(removal.leftText)"
      }
      if access.isLeaving { return "\(access.role), leaving" }
      if access.hasEnded { return "\(access.role), has ended" }
      return access.place.map { "\(access.role), \(Ordinal.text($0))" } ?? "\(access.role)"
    }
  }

  func run() throws {
    let (lines, people, contested) = try access.withVault(.reading) { vault in
      let members = try member.map { [try RecordLookup(vault: vault).member(named: $0)] }
      let found = vault.accesses(to: members ?? vault.members)
      if members != nil { try found.failures.requireNone() }
      found.failures.tell(MemberFailure.ofAccess, in: vault)
      let lines = found.values.flatMap { member, accesses in
        accesses.map { Line(member: member.name.string, access: $0) }
      }
      let people = try PersonLookup.load(of: vault)
      let contested = vault.contestedPlaces.filter { place in
        members?.contains { $0.id == place.member } ?? true
      }
      return (lines, people, contested.map { AccessNotes.Contested($0, in: vault, people) })
    }
    for place in contested { Terminal.note("kinvault: \(place.line)") }
    if json {
      try JSONOutput.print(
        lines.map { line in
          Row(
            member: line.member, person: line.access.person.hex,
            name: people.name(of: line.access.person), role: "\(line.access.role)",
            place: line.access.place, givenBy: line.access.giver.hex,
            given: DateText.utc(milliseconds: line.access.time),
            until: line.access.until.map(DateText.utc(milliseconds:)),
            keeps: line.access.isLeaving ? "nothing" : nil,
            filesLeft: line.access.removal?.leftCount)
        })
      return
    }
    var table = Table(columns: [
      .init(heading: "MEMBER", isCut: true), .init(heading: "WHO", isCut: true),
      .init(heading: "AS"), .init(heading: "GIVEN BY", isCut: true), .init(heading: "WHEN"),
      .init(heading: "UNTIL"),
    ])
    for line in lines {
      table.add([
        Terminal.visible(line.member), people.name(of: line.access.person), line.role,
        people.name(of: line.access.giver), DateText.local(milliseconds: line.access.time),
        line.access.until.map(DateText.local(milliseconds:)) ?? "",
      ])
    }
    table.print(orElse: "No members.")
  }
}
