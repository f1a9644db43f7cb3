import ArgumentParser
import SystemPackage
import Vault
import VaultErrors
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

  func run() throws {
    let list = try access.withVault(.reading) { vault in
      let list = try PeopleList.gather(of: vault, all: all)
      list.failures.tell(MemberFailure.ofAccess, in: vault)
      return list
    }
    if json { return try JSONOutput.print(list.rows) }
    for person in list.shown where list.joined.contains(person.id) {
      Terminal.note("\(person.shownName) has joined with your invitation.")
    }
    list.table.print(orElse: "Nobody.")
    let hidden = list.hiddenCount
    if hidden > 0 {
      Terminal.note(
        "\(counted(hidden, "more person is", "more people are")) in the folder whom nobody has let in whom you know. To see them: "
          + "kinvault people list --all")
    }
  }
}

/// Who is in a vault, and what each can read and takes up.
private struct PeopleList {
  struct Row: Encodable {
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

  /// Who has joined just now.
  let joined: [PersonID]
  /// Whom it shows, and how many it does not.
  let shown: [KnownPerson]
  let hiddenCount: Int
  private let everyone: PersonLookup
  /// The members of which it cannot be told who can read them.
  let failures: [MemberFailure]
  private let accesses: [(member: String, accesses: [MemberAccess])]
  private let folder: FilePath?
  /// The members that do not open here, by who made them.
  private let unopened: [PersonID: [MemberID]]

  /// - Parameter all: Whether those are shown whom nobody has let in.
  static func gather(of vault: Vault, all: Bool) throws(VaultError) -> PeopleList {
    let joined = try vault.acceptIntroductions()
    let everyone = try PersonLookup.load(of: vault)
    let shown = everyone.known.all.filter { all || $0.isSpokenOf }
    let found = vault.accesses(to: vault.members)
    return PeopleList(
      joined: joined, shown: shown, hiddenCount: everyone.known.all.count - shown.count,
      everyone: everyone, failures: found.failures,
      accesses: found.values.map { ($0.name.string, $1) }, folder: vault.folder,
      unopened: all ? try vault.unopenedMembers() : [:])
  }

  var rows: [Row] {
    shown.map { person in
      Row(
        id: person.id.hex, name: person.name.isEmpty ? nil : person.name,
        toldName: person.toldName.map { Row.ToldName(name: $0.name, teller: $0.teller.hex) },
        verification: person.verification.text,
        since: DateText.utc(milliseconds: person.since), isYou: person.isSelf,
        isSpokenOf: person.isSpokenOf, canRead: canRead(person.id), byteCount: byteCount(person))
    }
  }

  var table: Table {
    var table = Table(columns: [
      .init(heading: "NAME"), .init(heading: "VERIFIED"), .init(heading: "SINCE"),
      .init(heading: "CAN READ", isCut: true), .init(heading: "ID"),
    ])
    for person in shown {
      let name = everyone.name(of: person.id)
      let reads = canRead(person.id).map { "\($0.member) (\($0.role))" }
      let stranger = byteCount(person).map { "a stranger: \(ByteCount.text($0))" }
      table.add([
        person.isSelf ? "\(name) (you)" : name,
        person.isSelf ? "" : person.verification.text,
        DateText.local(milliseconds: person.since), stranger ?? reads.first ?? "",
        person.id.shortHex,
      ])
      // A line for each of a family's members, which one line would not hold.
      if stranger == nil { for read in reads.dropFirst() { table.add(["", "", "", read, ""]) } }
    }
    return table
  }

  private func canRead(_ person: PersonID) -> [Row.Access] {
    accesses.flatMap { member, accesses in
      accesses.filter { $0.person == person }
        .map { Row.Access(member: member, role: "\($0.role)") }
    }
  }

  /// What somebody takes up whom nobody has let in, with the members that they made; nil of anybody else.
  private func byteCount(_ person: KnownPerson) -> UInt64? {
    guard !person.isSpokenOf, let folder else { return nil }
    let members = (unopened[person.id] ?? []).map { "members/\($0.hex)" }
    return (["people/\(person.id.hex)"] + members)
      .map { FolderSize.measure(folder.pushing(FilePath($0))).byteCount }.reduce(0, +)
  }
}
