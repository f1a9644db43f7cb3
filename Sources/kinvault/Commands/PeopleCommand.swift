import ArgumentParser
import SystemPackage
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
      \u{2018}kinvault verify\u{2019}. Of what others can read, only members that you can read are shown. A name with \
      \u{2018}(so Anna)\u{2019} is what Anna calls somebody of whom you have no name.

      Whoever can write to the folder can add people to it. Those whom nobody has let in whom you know are not shown; \
      \u{2018}--all\u{2019} shows them, with what they and the members that they made take up.

      Examples:
        kinvault people list --json
        kinvault people list --all
      """)

  @Flag(help: "Show also those whom nobody has let in whom you know.") var all = false
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    struct Access: Encodable {
      var member: String
      var role: String
    }

    struct ToldName: Encodable {
      var name: String
      var teller: String
    }

    var id: String
    var name: String?
    /// What somebody else calls them.
    var toldName: ToldName?
    var verification: String
    var since: String
    var isYou: Bool
    /// Whether somebody has let them in.
    var isSpokenOf: Bool
    var canRead: [Access]
    /// What someone whom nobody has let in takes up, with the members that they made.
    var byteCount: UInt64?
  }

  func run() throws {
    let (everyone, joined, accesses, folder, unopened) = try access.withVault(.reading) { vault in
      let joined = try vault.acceptIntroductions()
      return (
        try PersonLookup(vault: vault), joined,
        try vault.members.map { (name: $0.name.string, accesses: try $0.accesses()) },
        vault.folder, all ? try vault.unopenedMembers() : [:]
      )
    }
    func canRead(_ person: PersonID) -> [Row.Access] {
      accesses.flatMap { member, accesses in
        accesses.filter { $0.person == person }
          .map { Row.Access(member: member, role: "\($0.role)") }
      }
    }
    func byteCount(_ person: KnownPerson) -> UInt64? {
      guard !person.isSpokenOf, let folder else { return nil }
      let members = (unopened[person.id] ?? []).map { "members/\($0.hex)" }
      return (["people/\(person.id.hex)"] + members)
        .map { FolderSize.measure(folder.pushing(FilePath($0))).byteCount }.reduce(0, +)
    }
    let people = everyone.people.filter { all || $0.isSpokenOf }
    if json {
      try JSONOutput.print(
        people.map { person in
          Row(
            id: person.id.hex, name: person.name.isEmpty ? nil : person.name,
            toldName: person.toldName.map { Row.ToldName(name: $0.name, teller: $0.teller.hex) },
            verification: person.verification.text,
            since: DateText.utc(milliseconds: person.since), isYou: person.isSelf,
            isSpokenOf: person.isSpokenOf, canRead: canRead(person.id),
            byteCount: byteCount(person))
        })
      return
    }
    for person in people where joined.contains(person.id) {
      Terminal.note("\(person.shownName) has joined with your invitation.")
    }
    var table = Table("NAME", "VERIFIED", "SINCE", "CAN READ", "ID")
    for person in people {
      let name = everyone.shownName(of: person)
      let reads = canRead(person.id).map { "\(Terminal.visible($0.member)) (\($0.role))" }
      table.add([
        person.isSelf ? "\(name) (you)" : name,
        person.isSelf ? "" : person.verification.text,
        DateText.local(milliseconds: person.since),
        byteCount(person).map { "a stranger: \(ByteCount.text($0))" }
          ?? reads.joined(separator: ", "), person.id.shortHex,
      ])
    }
    table.print(orElse: "Nobody.")
    let hidden = everyone.people.count - people.count
    if hidden > 0 {
      Terminal.note(
        "\(counted(hidden, "more person is", "more people are")) in the folder whom nobody has let in whom you know. To see them: "
          + "kinvault people list --all")
    }
  }
}
