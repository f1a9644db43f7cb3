import ArgumentParser
import Vault
import VaultModel

struct PeopleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "people",
    abstract: "List the adults of this vault.",
    discussion: """
      A person is an adult with keys of their own. What each can read is chosen member by member: kinvault \
      share.
      """,
    subcommands: [PeopleListCommand.self])
}

struct PeopleListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List who is in the vault, how they were verified, and what they can read.",
    discussion: """
      \u{2018}trusted on first use\u{2019} means that nothing but the folder says whose keys these are: compare words with \
      \u{2018}kinvault verify\u{2019}. Of what others can read, only members that you can read are shown.

      Example:
        kinvault people list --json
      """)

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    struct Access: Encodable {
      var member: String
      var role: String
    }

    var id: String
    var name: String?
    var verification: String
    var since: String
    var isYou: Bool
    var canRead: [Access]
  }

  func run() throws {
    let (people, joined, accesses) = try access.withVault(.reading) { vault in
      let joined = try vault.acceptIntroductions()
      return (
        try vault.knownPeople(), joined,
        try vault.members.map { (name: $0.name.string, accesses: try $0.accesses()) }
      )
    }
    func canRead(_ person: PersonID) -> [Row.Access] {
      accesses.flatMap { member, accesses in
        accesses.filter { $0.person == person }
          .map { Row.Access(member: member, role: "\($0.role)") }
      }
    }
    if json {
      try JSONOutput.print(
        people.map { person in
          Row(
            id: person.id.hex, name: person.name.isEmpty ? nil : person.name,
            verification: person.verification.text,
            since: DateText.utc(milliseconds: person.since), isYou: person.isSelf,
            canRead: canRead(person.id))
        })
      return
    }
    for person in people where joined.contains(person.id) {
      Terminal.note("\(person.shownName) has joined with your invitation.")
    }
    var table = Table("NAME", "VERIFIED", "SINCE", "CAN READ", "ID")
    for person in people {
      table.add([
        person.isSelf ? "\(person.shownName) (you)" : person.shownName,
        person.isSelf ? "" : person.verification.text,
        DateText.local(milliseconds: person.since),
        canRead(person.id).map { "\(Terminal.visible($0.member)) (\($0.role))" }
          .joined(separator: ", "), person.id.shortHex,
      ])
    }
    table.print(orElse: "Nobody.")
  }
}
