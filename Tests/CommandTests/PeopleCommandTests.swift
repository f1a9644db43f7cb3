import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Vault

/// What two adults of one vault see of each other, and of strangers.
@Suite struct PeopleCommandTests {
  @Test func theJournalTellsWhatTheOtherOneDid() throws {
    let two = try TwoPeople()
    let anna = two.anna
    try anna.run("people", "list", expecting: 0)
    try anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    try two.ben("record", "add", "--member", "Emma", "--title", "Wrist", expecting: 0)
    try two.ben("export", "Emma", anna.folder.appending("out").string, "--yes", expecting: 0)
    #expect(try two.ben("member", "journal", "Emma", "--reads", "on").status == 8)
    #expect(try anna.run("member", "journal", "Emma", expecting: 0).output.contains("not noted"))
    let on = try anna.run("member", "journal", "Emma", "--reads", "on", expecting: 0)
    #expect(on.output.contains("You have openings of files noted"))
    let told = try two.ben("record", "list", expecting: 0).errors
    #expect(told.contains("Adult A has openings of files noted"), "\(told)")
    #expect(try two.ben("record", "list", expecting: 0).errors == "")
    let found = try two.ben("record", "list", "--json", expecting: 0).output
    let wrist = try #require(
      found.split(separator: "\"").map(String.init).first {
        $0.hasSuffix("Wrist") && $0.contains("/")
      })
    try two.ben("record", "show", wrist, expecting: 0)
    try two.ben("record", "add", "--member", "Emma", "--title", "Visit", expecting: 0)
    let journal = try anna.run("audit", "--journal", "Emma", expecting: 0).output
    let lines = journal.split(separator: "\n")
    #expect(lines.contains { $0.contains("Adult A") && $0.contains("share") && $0.contains("Ben") })
    #expect(lines.contains { $0.contains("Ben, ") && $0.contains("export") }, "\(journal)")
    #expect(lines.contains { $0.contains("Ben, ") && $0.contains("read") && $0.contains(wrist) })
    let reads = try anna.run(
      "audit", "--journal", "Emma", "--person", "Ben", "--action", "read", "--csv", expecting: 0)
    #expect(reads.output.split(whereSeparator: \.isNewline).count == 2, "\(reads.output)")
    let off = try anna.run("member", "journal", "Emma", "--reads", "off", expecting: 0)
    #expect(off.output.contains("not noted"))
    #expect(try two.ben("record", "list", expecting: 0).errors.contains("no more"))
  }

  @Test func twoAnswersToOneInvitationAreToldWithWhatToDo() throws {
    let two = try TwoPeople()
    let thief: [String: String?] = [
      "XDG_STATE_HOME": two.anna.folder.appending("a thief's state").string
    ]
    try two.join(
      two.anna.folder.appending("invitation").string, state: thief, words: "a thief's words")
    let told = "Several people have answered your invitation"
    for command in [["people", "list"], ["member", "list"], ["record", "list"]] {
      let errors = try two.anna.run(command[0], command[1], expecting: 0).errors
      #expect(errors.contains(told) && errors.contains("kinvault verify "), "\(command)")
    }
    let people = try two.anna.run("people", "list", "--json", expecting: 0).output
    #expect(!people.contains("invited in person"))
    let id = try #require(
      try two.anna.run("people", "list").errors.split(separator: " ").drop { $0 != "verify" }
        .dropFirst().first)
    try two.anna.run("verify", String(id.filter(\.isHexDigit)), "--yes", expecting: 0)
    #expect(try !two.anna.run("people", "list", expecting: 0).errors.contains(told))
  }

  /// Number 20 of the review.
  @Test func aStolenInvitationThatIsAnsweredFirstIsTold() throws {
    let two = try TwoPeople()
    #expect(
      try two.anna.run("people", "list", "--json", expecting: 0).output.contains(
        "invited in person"))
    try two.join(
      two.anna.folder.appending("invitation").string,
      state: ["XDG_STATE_HOME": two.anna.folder.appending("the real one's state").string],
      words: "the real one's words")
    for command in [["people", "list"], ["member", "list"], ["record", "list"]] {
      let errors = try two.anna.run(command[0], command[1], expecting: 0).errors
      #expect(errors.contains("was taken for the one whom you invited"), "\(command): \(errors)")
      #expect(errors.split(separator: " ").count { $0 == "verify" } == 2, "\(errors)")
    }
    try two.anna.run("unlock", expecting: 0)
    let status = try two.anna.run("status", expecting: 0).output
    try two.anna.run("lock", expecting: 0)
    #expect(status.contains("answered the same invitation"), "\(status)")
  }

  /// Whoever was taken first may be the thief: what is shared with them before words were compared they have.
  @Test func nothingIsSharedUnaskedWhileAnInvitationIsContested() throws {
    let two = try TwoPeople()
    try two.anna.run("people", "list", expecting: 0)
    try two.join(
      two.anna.folder.appending("invitation").string,
      state: ["XDG_STATE_HOME": two.anna.folder.appending("the real one's state").string],
      words: "the real one's words", as: "Zed")
    let share = ["share", "Emma", "--with", "Ben", "--role", "owner"]
    let asked = try two.anna.run(share)
    #expect(asked.status == 10, "\(asked.output)\(asked.errors)")
    #expect(asked.errors.contains("answered the same invitation"), "\(asked.errors)")
    #expect(asked.errors.contains("Share Emma with Ben all the same?"), "\(asked.errors)")
    let accesses = try two.anna.run("access", "list", expecting: 0).output
    #expect(!accesses.contains("Ben"), "\(accesses)")
    // Nor once it is known who was invited: it is not Ben.
    let invited = try #require(asked.errors.firstMatch(of: /Zed \(([0-9a-f]{12})\)/)).output.1
    try two.anna.run("verify", String(invited), "--yes", expecting: 0)
    let known = try two.anna.run(share)
    #expect(known.status == 10, "\(known.output)\(known.errors)")
    #expect(known.errors.contains("You have compared words with Zed"), "\(known.errors)")

    let running = try RunningPage(two.anna)
    let visitor = try PageVisitor(running, in: two.anna.folder.path)
    let people = try visitor.get("/people").body
    let form = try #require(people.firstMatch(of: /\/access\/[0-9a-f]+\/share/)).output
    let ben = try #require(people.firstMatch(of: /<option value="([0-9a-f]+)"[^>]*>Ben</)).output.1
    let fields = ["person": String(ben), "role": "owner", "until": ""]
    let doubt = try visitor.post(String(form), fields)
    #expect(doubt.status == 200 && doubt.body.contains("somebody else has seen it"), "\(doubt)")
    running.command.signal(SIGTERM)
    #expect(try running.end() == 0)
    #expect(try !two.anna.run("access", "list", expecting: 0).output.contains("Ben"))

    try two.anna.run(
      "share", "Emma", "--with", "Ben", "--role", "viewer", "--yes", expecting: 0)
    let id = String(ben.prefix(12))
    try two.anna.run("verify", id, "--yes", expecting: 0)
    try two.anna.run("share", "Emma", "--with", id, "--role", "owner", expecting: 0)
  }

  @Test func membersOfOneNameAreToldApart() throws {
    let two = try TwoPeople()
    try two.anna.run("people", "list", expecting: 0)
    try two.ben("member", "add", "Emma", expecting: 0)
    try two.ben("share", "Emma", "--with", "Adult A", "--role", "editor", expecting: 0)
    let listed = try two.anna.run("member", "list", expecting: 0).output.split(separator: "\n")
    #expect(listed.dropFirst().filter { $0.hasPrefix("Emma ") }.count == 2)
    #expect(listed.contains { $0.hasPrefix("Emma (") })
    let refused = try two.anna.run(
      "record", "add", "--member", "Emma", "--type", "note", "--title", "x", expecting: 2)
    #expect(refused.errors.contains("2 members are called"))
    let ids = refused.errors.split { !$0.isHexDigit }.filter { $0.count == 12 }.map(String.init)
    #expect(ids.count == 2)
    for id in ids {
      try two.anna.run(
        "record", "add", "--member", id, "--type", "note", "--title", "in \(id)", expecting: 0)
    }
    let paths = try two.anna.run("record", "list", expecting: 0).output
    #expect(paths.contains("Emma/") && paths.contains("Emma ("))
  }

  /// A stranger computes ids until one comes before that of the real member, and calls the member by its name.
  @Test func aNewcomerNeverTakesTheNameOfAMemberThatShows() throws {
    let two = try TwoPeople()
    func ids(_ output: String) throws -> [String: String] {
      let lines = output.split { "{}".contains($0) }
      return Dictionary(
        lines.compactMap { line -> (String, String)? in
          guard let id = Self.value("id", in: line), let name = Self.value("shownName", in: line)
          else {
            return nil
          }
          return (name, id)
        }
      ) { first, _ in first }
    }
    // Of several it is the one with the greatest id, so that a few tries are enough for certain.
    for name in ["Liam", "Mia", "Noah"] { try two.anna.run("member", "add", name, expecting: 0) }
    let own = try ids(two.anna.run("member", "list", "--json", expecting: 0).output)
    let (name, id) = try #require(own.max { $0.value < $1.value })
    var lowest = (key: "", value: id)
    for attempt in 0..<64 where lowest.value >= id {
      try two.ben("member", "add", "Draft \(attempt)", expecting: 0)
      let made = try ids(two.ben("member", "list", "--json", expecting: 0).output)
      lowest = try #require(made.min { $0.value < $1.value })
    }
    try #require(lowest.value < id)
    try two.ben("member", "rename", lowest.key, name, expecting: 0)
    try two.ben("share", name, "--with", "Adult A", "--role", "owner", expecting: 0)
    let shown = try ids(two.anna.run("member", "list", "--json", expecting: 0).output)
    #expect(shown[name] == id)
    #expect(shown.count == own.count + 1)
    // She moves her own away, and somebody else's does not slip into its place.
    try two.anna.run("member", "rename", id, "Anna's own", expecting: 0)
    let moved = try ids(two.anna.run("member", "list", "--json", expecting: 0).output)
    #expect(moved["Anna's own"] == id)
    #expect(moved.keys.contains { $0.hasPrefix("\(name) (") })
  }

  /// Whoever keeps the store makes up a person with an invitation of their own making.
  @Test func aMemberFromAStrangerWaitsForAYes() throws {
    let two = try TwoPeople()
    let state: [String: String?] = [
      "XDG_STATE_HOME": two.anna.folder.appending("a stranger's state").string
    ]
    try two.join(Self.forgedInvitation(two), state: state, words: "a stranger's words")
    let before = try Self.minute()
    for arguments in [
      ["member", "add", "Emma"], ["share", "Emma", "--with", "Adult A", "--role", "owner"],
    ] {
      let result = try two.run(arguments, state: state)
      #expect(result.status == 0, "\(result.errors)")
    }

    let people = try two.anna.run("people", "list", expecting: 0)
    #expect(people.output.split(separator: "\n").count == 3, "\(people.output)")
    #expect(people.errors.contains("1 more person") && people.errors.contains("--all"))
    let all = try two.anna.run("people", "list", "--all", expecting: 0).output
    #expect(all.split(separator: "\n").count == 4 && all.contains("a stranger: "), "\(all)")
    let listed = try two.anna.run("member", "list", expecting: 0)
    #expect(listed.output.split(separator: "\n").count == 2, "\(listed.output)")
    #expect(listed.errors.contains("kinvault accept"))
    // Hers is still named by its name alone.
    try two.anna.run(
      "record", "add", "--member", "Emma", "--type", "note", "--title", "x", expecting: 0)
    let stranger = try #require(all.split(separator: "\n").first { $0.contains("a stranger: ") })
    // Nobody here knows what that person is called.
    let giver = try #require(stranger.cells.last)
    let offers = try two.anna.run("accept", expecting: 0).output.split(separator: "\n")
    try #require(offers.count == 2, "\(offers)")
    let cells = offers[1].cells
    try #require(cells.count == 6, "\(offers)")
    // Who gives it and when.
    #expect(Array(cells[0...2]) == ["Emma", "to see it", giver])
    #expect(try cells[3] >= before && cells[3] <= Self.minute(), "\(offers)")
    #expect(cells[4] == "trusted on first use")
    let json = try two.anna.run("accept", "--json", expecting: 0).output
    #expect(
      json.contains("\"from\" : \"\(giver)\"")
        && json.contains("\"since\" : \"\(before.prefix(10))")
    )
    try two.anna.run("accept", "Nobody", "--yes", expecting: 6)
    let asked = try two.anna.run("accept", "Emma", expecting: 10).errors
    #expect(asked.contains("Emma comes from \(giver), trusted on first use: "), "\(asked)")
    let accepted = try two.anna.run("accept", "Emma", "--yes", expecting: 0).output
    #expect(accepted.contains("Emma ("))
    let after = try two.anna.run("member", "list", expecting: 0)
    #expect(after.output.split(separator: "\n").count == 3)
    #expect(after.errors.isEmpty)
    #expect(
      try two.anna.run("accept", expecting: 0).output.contains("There is nothing to accept."))
  }

  /// Now, as the program shows times here.
  private static func minute() throws -> String {
    String(try CommandRunner.run("date", ["-u", "+%F %H:%M"]).output.prefix(16))
  }

  /// A stranger with a copy of the folder puts more on the family's stick than is taken of people whom nobody knows.
  @Test func whatAStrangerPutsOnARemoteIsLeftAndToldAndTakenWhenAsked() throws {
    let two = try TwoPeople()
    let folder = two.anna.folder
    let stick = folder.appending("stick").string
    try two.anna.run("remote", "add", "stick", stick, expecting: 0)
    try two.anna.run("sync", expecting: 0)
    let stranger: [String: String?] = [
      "XDG_STATE_HOME": folder.appending("a stranger's state").string,
      "KINVAULT_VAULT": folder.appending("a stranger's copy").string,
    ]
    let copied = try CommandRunner.run(
      "cp", ["-a", two.anna.vault, folder.appending("a stranger's copy").string])
    #expect(copied.status == 0, "\(copied.errors)")
    let forged = try Self.forgedInvitation(two)
    try two.join(forged, state: stranger, words: "a stranger's words")
    let film = folder.appending("film").string
    try two.anna.write([UInt8](repeating: 0, count: 70 << 20), to: film)
    let cut = try CommandRunner.run("shred", ["-n", "1", film])
    #expect(cut.status == 0, "\(cut.errors)")
    for arguments in [
      ["member", "add", "Zoe"], ["attach", "Zoe", film], ["remote", "add", "stick", stick],
      ["sync"],
    ] {
      let result = try two.run(arguments, state: stranger)
      #expect(result.status == 0, "\(arguments): \(result.output)\(result.errors)")
    }

    func strangersWeights() throws -> [Int] {
      let listed = try two.anna.run("people", "list", "--all", "--json", expecting: 0).output
      return listed.split(separator: "\n").filter { $0.contains("\"byteCount\"") }
        .compactMap { Int($0.filter(\.isNumber)) }
    }
    let told = try two.anna.run("sync", expecting: 0)
    let text = told.output + told.errors
    #expect(text.contains("a member that nobody has let in whom you know"), "\(text)")
    #expect(text.contains("kinvault sync stick --all"), "\(text)")
    let before = try strangersWeights()
    #expect(before.count == 1 && before.allSatisfy { $0 < 1 << 20 }, "\(before)")
    // It is told once.
    let again = try two.anna.run("sync", expecting: 0)
    #expect(!(again.output + again.errors).contains("--all"), "\(again.output)\(again.errors)")
    try two.anna.run("sync", "stick", "--all", expecting: 0)
    let after = try strangersWeights()
    #expect(after.count == 1 && after.allSatisfy { $0 >= 70 << 20 }, "\(after)")
    let people = try two.anna.run("people", "list", expecting: 0)
    #expect(people.output.split(separator: "\n").count == 3, "\(people.output)")
    let members = try two.anna.run("member", "list", expecting: 0).output
    #expect(!members.contains("Zoe"), "\(members)")
    try two.anna.run("check", "--read-data", expecting: 0)
  }

  /// The same brought by a file copier, which asks nobody.
  @Test func whatACopierBringsOfAStrangerStaysAndShowsNowhereElse() throws {
    let two = try TwoPeople()
    let stranger: [String: String?] = [
      "XDG_STATE_HOME": two.anna.folder.appending("a stranger's state").string
    ]
    try two.join(Self.forgedInvitation(two), state: stranger, words: "a stranger's words")
    let scan = two.anna.folder.appending("scan").string
    try two.anna.write([UInt8](repeating: 1, count: 3 << 20), to: scan)
    for arguments in [["member", "add", "Zoe"], ["attach", "Zoe", scan]] {
      let result = try two.run(arguments, state: stranger)
      #expect(result.status == 0, "\(arguments): \(result.output)\(result.errors)")
    }
    let listed = try two.anna.run("people", "list", "--all", "--json", expecting: 0).output
    let weights = listed.split(separator: "\n").filter { $0.contains("\"byteCount\"") }
      .compactMap { Int($0.filter(\.isNumber)) }
    #expect(weights.count == 1 && weights.allSatisfy { $0 >= 1 << 20 }, "\(listed)")
    #expect(try !two.anna.run("member", "list", expecting: 0).output.contains("Zoe"))
    #expect(try !two.anna.run("record", "list", expecting: 0).output.contains("Zoe"))
    try two.anna.run("check", expecting: 0)
  }

  /// An invitation that Anna never made, though it says so.
  static func forgedInvitation(_ two: TwoPeople) throws -> String {
    let real = try Invitation(parsing: two.anna.run("invite", expecting: 0).output)
    let forged = Invitation(
      vault: real.vault, inviter: real.inviter, inviterName: "Adult A", remote: "",
      secret: [UInt8](repeating: 7, count: 16))
    let file = two.anna.folder.appending("forged").string
    try two.anna.write(forged.text, to: file)
    return file
  }

  private static func value(_ key: String, in text: Substring) -> String? {
    guard let start = text.firstRange(of: "\"\(key)\" : \"") ?? text.firstRange(of: "\"\(key)\":\"")
    else {
      return nil
    }
    return text[start.upperBound...].split(separator: "\"", maxSplits: 1).first.map(String.init)
  }

  /// Who means for ever writes the last day that there is; it ends in the year 10000.
  @Test func anAccessMayEndOnTheLastDayOfTheCalendar() throws {
    let two = try TwoPeople()
    try two.anna.run("people", "list", expecting: 0)
    try two.anna.run(
      "share", "Emma", "--with", "Ben", "--role", "viewer", "--until", "9999-12-31", expecting: 0)
    #expect(try two.ben("member", "list", expecting: 0).output.contains("Emma"))
  }

  /// They stood in one line, which was as wide as all of a family's names.
  @Test func eachMemberThatSomebodyCanReadHasALine() throws {
    let program = try Program.withVault()
    try program.run("member", "add", "Liam", expecting: 0)
    let lines = try program.run("people", "list", expecting: 0).output.split(separator: "\n")
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[1].cells.dropLast().last == "Emma (owner)", "\(lines)")
    #expect(lines[2].cells == ["Liam (owner)"], "\(lines)")
  }

  @Test func fromTheInvitationToASharedMember() throws {
    let two = try TwoPeople()
    let listed = try two.anna.run("people", "list", expecting: 0)
    #expect(listed.errors.contains("Ben has joined with your invitation."))
    let lines = listed.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[1].hasPrefix("Adult A (you)") && lines[1].contains("Emma (owner)"))
    #expect(lines[2].hasPrefix("Ben ") && lines[2].contains("invited in person"))

    #expect(try two.ben("member", "list", expecting: 0).output.hasPrefix("No members yet."))
    try two.ben("share", "Emma", "--with", "Adult A", "--role", "viewer", expecting: 6)
    try two.anna.run("share", "Emma", "--with", "Nobody", "--role", "viewer", expecting: 6)
    try two.anna.run("share", "Emma", "--with", "Ben", "--role", "boss", expecting: 2)
    let end = ["--until", "2001-01-01"]
    try two.anna.run(
      "share", "Emma", "--with", "Ben", "--role", "viewer", end[0], end[1], expecting: 2)
    let shared = try two.anna.run(
      "share", "Emma", "--with", "ben", "--role", "viewer", expecting: 0)
    #expect(shared.output == "Ben is a viewer of Emma once the folders were exchanged.\n")
    #expect(shared.errors == "")
    try two.anna.run("share", "Emma", "--with", "Ben", "--role", "viewer", expecting: 11)

    let members = try two.ben("member", "list", expecting: 0).output
    #expect(members.contains("Emma") && members.contains("viewer"))
    let refused = try two.ben("record", "add", "--member", "Emma", "--type", "note", "--title", "x")
    #expect(refused.status == 8)
    #expect(refused.errors.contains("You are a viewer of this member"))
    try two.ben("member", "rename", "Emma", "Emily", expecting: 8)
    try two.ben("share", "Emma", "--with", "Adult A", "--role", "viewer", expecting: 8)

    let accesses = try two.ben("access", "list", expecting: 0).output.split(separator: "\n")
    #expect(accesses.count == 3)
    #expect(
      accesses.contains { $0.contains("Ben") && $0.contains("viewer") && $0.contains("Adult A") })
    let json = try two.anna.run("access", "list", "--member", "Emma", "--json", expecting: 0).output
    #expect(json.contains("\"role\" : \"viewer\""))
  }

  /// Ben knows Dave by what Anna calls him alone.
  @Test func whoIsKnownThroughSomebodyElseIsCalledWhatTheyAreCalledThere() throws {
    let two = try TwoPeople()
    let dave: [String: String?] = [
      "XDG_STATE_HOME": two.anna.folder.appending("dave's state").string
    ]
    let file = two.anna.folder.appending("second invitation").string
    try two.anna.write(try two.anna.run("invite", expecting: 0).output, to: file)
    try two.join(file, state: dave, words: "dave's words", as: "Dave")
    for name in ["Ben", "Dave"] {
      try two.anna.run("share", "Emma", "--with", name, "--role", "viewer", expecting: 0)
    }
    let listed = try two.ben("access", "list", expecting: 0).output
    #expect(listed.contains("Dave (so Adult A)"), "\(listed)")
    #expect(try two.ben("people", "list", expecting: 0).output.contains("Dave (so Adult A)"))
    // Nothing is done by a name that is somebody else's word.
    let refused = try two.ben("share", "Emma", "--with", "Dave", "--role", "viewer", expecting: 6)
    #expect(
      refused.errors.contains(
        "Only Adult A calls somebody \u{201C}Dave\u{201D}, so nothing was done."),
      "\(refused.errors)")
    #expect(refused.errors.contains("--name Dave"), "\(refused.errors)")
  }

  @Test func sharingWithSomeoneUnverifiedSaysWhatThatMeans() throws {
    let two = try TwoPeople()
    // Ben knows Anna by the invitation; for Anna he is nobody until she looks: his introduction is damaged.
    let found = try CommandRunner.run(
      "sh", ["-c", "rm \(two.anna.vault)/people/*/introduction"], environment: two.anna.environment,
      input: [], folder: nil)
    #expect(found.status == 0)
    let list = try two.anna.run("people", "list", "--all", expecting: 0).output
    #expect(list.contains("trusted on first use"))
    let id = try #require(list.split(separator: "\n").last?.suffix(8))
    let shared = try two.anna.run(
      "share", "Emma", "--with", String(id), "--role", "editor", expecting: 0)
    #expect(shared.errors.contains("Nothing but this folder says"))
    let words = try two.anna.run(
      "verify", String(id), "--name", "Ben", "--yes", expecting: 0
    ).output.split(separator: "\n")
    let other = try two.ben("verify", "Adult A", "--yes", expecting: 0).output
    #expect(words[0].split(separator: " ").count == 6)
    #expect(other.contains(words[0]))
    let after = try two.anna.run("people", "list", expecting: 0).output
    #expect(after.contains("Ben ") && after.contains("words compared"))
    try two.anna.run("verify", "Ben", expecting: 10)
  }

  @Test func theWordsAreTried() throws {
    let two = try TwoPeople()
    try two.anna.run("recovery", "test", "--words-file", two.anna.wordsFile, expecting: 0)
    // Ben's words open the vault for him, but they are not Anna's.
    let others = two.anna.folder.appending("ben's words").string
    try two.anna.run("recovery", "test", "--words-file", others, expecting: 3)
    try two.ben("recovery", "test", "--words-file", others, expecting: 0)
    try two.anna.run("recovery", "test", "--words-file", two.anna.passwordFile, expecting: 3)
  }

  @Test func anInvitationIsReadFromStandardInputAndChecked() throws {
    let two = try TwoPeople()
    let words = two.anna.folder.appending("w").string
    let wrong = try two.ben(
      "join", "--invitation-file", "-", "--words-out", words, "--yes", input: "KIN-ABCDEF")
    #expect(wrong.status == 2)
    #expect(access(words, F_OK) != 0)
    let invitation = try two.anna.run("invite", expecting: 0).output
    // This machine of Ben's is in the vault already.
    try two.ben(
      "join", "--invitation-file", "-", "--words-out", words, "--yes", input: invitation,
      expecting: 11)
    #expect(access(words, F_OK) != 0)
  }

  @Test(arguments: [
    "s3://bucket?endpoint=http://127.0.0.1:9", "s3://bucket", "rclone::local:/tmp/somewhere",
    "rclone::webdav,url=\"http://h\",bearer_token_command=\"touch /tmp/x\":x",
    "http://127.0.0.1:9/family", "https://127.0.0.1:9/family?ca=/etc/mine",
  ])
  func anInvitationsAddressUsesNothingOfThisMachine(_ remote: String) throws {
    let joiner = try Joiner(naming: remote)
    let refused = try joiner.join("--yes")
    #expect(refused.status == 2, "\(refused.errors)")
    #expect(
      refused.errors.contains("not taken from") || refused.errors.contains("settings for rclone"))
    #expect(access(joiner.words, F_OK) != 0)
    #expect(access(joiner.folder, F_OK) != 0)
  }

  @Test func anInvitationsAddressIsShownAndAskedForBeforeItIsOpened() throws {
    let store = try TemporaryFolder()
    let joiner = try Joiner(naming: store.path.string)
    let asked = try joiner.join()
    #expect(asked.status == 10, "\(asked.errors)")
    #expect(asked.errors.contains("names a copy of the vault at \(store.path.string)"))
    #expect(asked.errors.contains("--yes"))
    // It is empty, and stays so: the vault of the invitation is not there.
    let empty = try joiner.join("--yes")
    #expect(empty.errors.contains("There is no vault at"), "\(empty.errors)")
    #expect(try CommandRunner.run("ls", ["-A", store.path.string]).output == "")
    #expect(access(joiner.folder, F_OK) != 0)
  }

  @Test func anotherVaultThanTheInvitationsIsNeitherFetchedNorWritten() throws {
    let other = try Program.withAnotherVault()
    let joiner = try Joiner(naming: other.vault)
    let refused = try joiner.join("--yes")
    #expect(refused.errors.contains("another vault"), "\(refused.errors)")
    #expect(access(joiner.folder, F_OK) != 0)
  }

  @Test(arguments: ["rclone:nas:family", "http://127.0.0.1:9/family"])
  func anInvitationThatNobodyCouldUseIsNotMade(_ remote: String) throws {
    let anna = try Program.withVault()
    let refused = try anna.run("invite", "--remote", remote, expecting: 2)
    #expect(refused.errors.contains("An invitation cannot name this remote"))
  }

  @Test(
    .enabled(
      if: access("/usr/bin/qrencode", X_OK) == 0,
      "NOT TESTED: there is no qrencode; Scripts/setup --test installs it"))
  func theInvitationIsDrawnAsAQRCode() throws {
    let two = try TwoPeople()
    let path = two.anna.folder.appending("invitation.png").string
    let drawn = try two.anna.run("invite", "--qr", "--png", path, expecting: 0).output
    #expect(drawn.contains("█"))
    #expect(Array(try two.anna.read(path).prefix(4)) == [0x89, 0x50, 0x4e, 0x47])
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    try two.anna.run("invite", "--png", path, expecting: 11)
  }
}

/// Someone who answers an invitation whose address an adversary chose, on a machine with keys for other stores.
private struct Joiner {
  let anna: Program
  let invitation: String
  var words: String { anna.folder.appending("words of the joiner").string }
  var folder: String { anna.folder.appending("new").string }

  init(naming remote: String) throws {
    anna = try Program.withVault()
    let made = try Invitation(parsing: anna.run("invite", expecting: 0).output)
    invitation =
      Invitation(
        vault: made.vault, inviter: made.inviter, inviterName: made.inviterName, remote: remote,
        secret: made.secret
      ).text
  }

  /// Joins without a terminal.
  func join(_ options: String...) throws -> CommandResult {
    var environment = anna.environment
    environment["XDG_STATE_HOME"] = anna.folder.appending("state of the joiner").string
    environment["AWS_ACCESS_KEY_ID"] = "mine"
    environment["AWS_SECRET_ACCESS_KEY"] = "secret"
    return try CommandRunner.run(
      "setsid",
      [
        "-w", Program.executable, "join", "--vault", folder, "--invitation-file", "-",
        "--password-file", anna.passwordFile, "--words-out", words,
      ] + options, environment: environment, input: Array(invitation.utf8))
  }
}
