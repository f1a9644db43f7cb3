import Glibc
import SystemPackage
import TestSupport
import Testing

/// Two adults with a machine each and nothing but a remote between them, as scripts use the program.
struct InvitedPair {
  let anna: Machine
  let ben: Machine
  let remote: String
  private let program: Program

  init() throws {
    program = try Program.withVault()
    anna = Machine(first: program)
    ben = Machine("ben", beside: program)
    remote = program.folder.appending("usb").string
    try anna.run("remote", "add", "usb", remote, expecting: 0)
    try anna.write("one", titled: "Visit")
    try anna.run("sync", expecting: 0)
  }

  /// Ben answers an invitation that names the remote.
  @discardableResult
  func join(expecting status: Int32 = 0) throws -> CommandResult {
    let invitation = program.folder.appending("invitation").string
    try program.write(
      try anna.run("invite", "--remote", "usb", expecting: 0).output, to: invitation)
    return try ben.run(
      "join", "--invitation-file", invitation, "--name", "Ben", "--words-out",
      program.folder.appending("ben's words").string, "--yes", expecting: status)
  }

  /// Another machine of Ben's, with what is on the remote.
  func laptop() throws -> Machine {
    let laptop = Machine("laptop", beside: program)
    try laptop.run(
      "clone", remote, laptop.vault, "--name", "usb", "--words-file",
      program.folder.appending("ben's words").string, "--device", "laptop", expecting: 0)
    return laptop
  }

  /// Both have what there is.
  func meet() throws {
    for machine in [anna, ben, anna, ben] { try machine.run("sync", expecting: 0) }
  }

  /// Ben has joined, and Emma is shared with him.
  static func sharing(as role: String) throws -> InvitedPair {
    let pair = try InvitedPair()
    try pair.join()
    try pair.anna.run("sync", expecting: 0)
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", role, expecting: 0)
    try pair.meet()
    return pair
  }
}

@Suite struct InvitedRemoteTests {
  /// What somebody else calls a device only they know, but whose it is everybody does.
  @Test func aConflictSaysWhoseDeviceWroteWhatLost() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    let visit = "Emma/Notes/2025-01-20 Visit"
    try pair.ben.replace("one", by: "early", in: visit)
    usleep(1_100_000)
    try pair.anna.replace("one", by: "late", in: visit)
    try pair.meet()
    let listed = try pair.anna.run("conflicts", "list", expecting: 0).output
    let lines = listed.split(separator: "\n")
    try #require(lines.count == 3, "\(listed)")
    #expect(lines[1].contains("  Ben ("), "\(listed)")
    let id = String(lines[1].prefix(8))
    let shown = try pair.anna.run("conflicts", "show", id, expecting: 0).output
    #expect(shown.hasPrefix("Written on Ben ("), "\(shown)")
    // Ben knows what he calls it.
    let own = try pair.ben.run("conflicts", "list", expecting: 0).output
    #expect(own.split(separator: "\n").count == 3 && !own.contains("Ben ("), "\(own)")
  }

  @Test func fromTheInvitationAloneToASharedMember() throws {
    let pair = try InvitedPair()
    let joined = try pair.join()
    #expect(joined.output.contains("You have joined the vault of Adult A"))
    #expect(joined.output.contains("Your answer is on the remote origin."))
    #expect(try pair.ben.run("remote", "list", expecting: 0).output.contains(pair.remote))
    let synced = try pair.anna.run("sync", expecting: 0)
    #expect(synced.output.contains("usb: took"))
    let people = try pair.anna.run("people", "list", expecting: 0).output
    #expect(people.contains("Ben ") && people.contains("invited in person"))
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("Emma"))
    #expect(try pair.ben.run("record", "list", expecting: 0).output.contains("Visit"))
    try pair.ben.write("two", titled: "Vaccine")
    try pair.meet()
    #expect(try pair.anna.run("record", "list", expecting: 0).output.contains("Vaccine"))
    for machine in [pair.anna, pair.ben] { try machine.expectWhole() }
  }

  @Test func aRemoteWithoutTheVaultOrWithAnotherIsRefused() throws {
    let pair = try InvitedPair()
    let empty = pair.anna.program.folder.appending("empty").string
    let file = pair.anna.program.folder.appending("invitation").string
    let words = pair.anna.program.folder.appending("w").string
    func join(_ remote: String, _ more: String..., expecting status: Int32) throws -> String {
      try pair.anna.program.write(
        pair.anna.run("invite", "--remote", remote, expecting: 0).output, to: file)
      let arguments = [
        "join", "--invitation-file", file, "--words-out", words, "--yes",
      ]
      let result = try CommandRunner.run(
        "setsid", ["-w", Program.executable] + arguments + more, environment: pair.ben.environment)
      #expect(result.status == status, "\(result.output)\(result.errors)")
      return result.output + result.errors
    }
    try pair.anna.program.run("remote", "add", "empty", empty, expecting: 0)
    #expect(try join(empty, expecting: 6).contains("has to sync with it first"))
    let other = pair.anna.program.folder.appending("other").string
    try pair.anna.program.run(
      "init", "--vault", other, "--name", "C", "--words-out", words + " c", "--yes", expecting: 0)
    #expect(try join(other, expecting: 10).contains("another vault"))
    #expect(access(words, F_OK) != 0)
    try pair.anna.run("invite", "--remote", "https://anna:secret@example.org/x", expecting: 2)
    // What was fetched of the other vault is in the way.
    _ = try CommandRunner.run("rm", ["-r", pair.ben.vault])
    let without = try join(empty, "--no-remote", expecting: 0)
    #expect(without.contains("Exchange this folder"))
    #expect(try pair.ben.run("remote", "list", expecting: 0).output.contains("No remotes"))
  }
}

@Suite struct LeaveCommandTests {
  @Test func leavingAMember() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    try pair.ben.write("last", titled: "Last")
    try pair.ben.run("leave", "Emma", expecting: 10)
    let left = try pair.ben.run("leave", "Emma", "--yes", expecting: 0).output
    #expect(left.contains("You have left Emma."))
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    try pair.ben.run("sync", expecting: 0)
    let seen = try pair.anna.run("sync", expecting: 0).output
    #expect(seen.contains("Ben has left Emma, and has no key of it any more."))
    let accesses = try pair.anna.run("access", "list", expecting: 0).output
    #expect(!accesses.contains("Ben"))
    #expect(try pair.anna.run("record", "list", expecting: 0).output.contains("Last"))
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    for machine in [pair.anna, pair.ben] { try machine.expectWhole() }
    // What he wrote goes on counting as his leaving says, until she says that it does not.
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 6)
    // He can be given access again.
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "viewer", expecting: 0)
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("viewer"))
  }

  /// A page that is open meanwhile shows what one shows that is opened then.
  @Test func anOpenPageHasNothingOfAMemberThatWasLeft() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    try pair.ben.run("member", "add", "Liam", expecting: 0)
    let page = try RunningPage(
      pair.ben.program, environment: pair.ben.environment.mapValues { $0 })
    let visitor = try PageVisitor(page, in: pair.ben.program.folder.path)
    let before = try visitor.get("/").body
    #expect(before.contains("Visit") && before.contains("Emma"), "\(before)")
    let record = try #require(try visitor.records().first)
    #expect(try visitor.get(record).status == 200)
    try pair.ben.run("leave", "Emma", "--yes", expecting: 0)
    // Whatever is asked for first; it looks around once a second.
    for _ in 0..<480 where try visitor.get(record).status == 200 { usleep(250_000) }
    let shown = try visitor.get(record)
    #expect(shown.status == 404 && !shown.body.contains("Visit"), "\(shown.status)")
    let list = try visitor.get("/").body
    #expect(list.contains("There is no record here yet.") && !list.contains("Emma"), "\(list)")
    for path in ["/people", "/new", "/vault"] {
      let body = try visitor.get(path).body
      #expect(!body.contains("Emma"), "\(path): \(body)")
    }
    let saved = try visitor.post(record + "/edit", ["title": "Lie", "text": "x"])
    #expect(saved.status >= 400, "\(saved)")
  }

  /// Another machine's mount loses what its person has left with a sync of any process, and a new one shows the same.
  @Test func aMountHasNothingOfAMemberThatWasLeftElsewhere() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    let program = pair.anna.program
    let laptop = try pair.laptop()
    let (mountpoint, other) = (
      program.folder.appending("live").string, program.folder.appending("fresh").string
    )
    try laptop.run("mount", mountpoint, "--no-sync", expecting: 0)
    defer { _ = try? laptop.run("unmount", mountpoint) }
    func listed(_ place: String) throws -> String {
      try CommandRunner.run(
        "sh", ["-c", "cd \"$1\" && find . -not -path './.*' | sort", "", place]
      ).output
    }
    let note = "\(mountpoint)/Emma/Notes/2025-01-20 Visit/record.md"
    #expect(try listed(mountpoint).contains("Visit"))
    try pair.ben.run("leave", "Emma", "--yes", expecting: 0)
    try pair.ben.run("sync", expecting: 0)
    try laptop.run("sync", expecting: 0)
    for _ in 0..<1200 where try listed(mountpoint).contains("Emma") { usleep(100_000) }
    let live = try listed(mountpoint)
    #expect(!live.contains("Emma"), "\(live)")
    #expect(try CommandRunner.run("sh", ["-c", "echo x > \"$1\"", "", note]).status != 0)
    try laptop.run("mount", other, "--read-only", expecting: 0)
    #expect(try listed(other) == live)
    try laptop.run("unmount", other, expecting: 0)
    try laptop.run("unmount", mountpoint, expecting: 0)
  }

  /// Another machine has saved something there that it has not sent.
  @Test func aMemberThatWasLeftElsewhereIsNoTampering() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    let laptop = try pair.laptop()
    try laptop.write("one", titled: "Sent")
    try laptop.run("sync", expecting: 0)
    try laptop.write("two", titled: "Unsent")
    try pair.meet()
    try pair.ben.run("leave", "Emma", "--yes", expecting: 0)
    try pair.meet()
    for _ in 0..<2 {
      let synced = try laptop.run("sync", expecting: 0)
      #expect(!synced.output.contains("has seen"), "\(synced.output)")
      #expect(!synced.errors.contains("tampering"), "\(synced.errors)")
    }
  }

  @Test func leavingTheVault() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.ben.run("member", "add", "Liam", expecting: 0)
    try pair.ben.run("record", "add", "--member", "Liam", "--title", "Visit", expecting: 0)
    // Made by mistake, and in nobody's way.
    try pair.ben.run("member", "add", "Untitled folder", expecting: 0)
    let refused = try pair.ben.run("leave", "--yes", expecting: 10)
    #expect(refused.errors.contains("You are the only owner of Liam"))
    #expect(refused.errors.contains("kinvault hand-over Liam --to PERSON"))
    try pair.ben.run(
      "share", "Liam", "--with", "Adult A", "--role", "viewer", expecting: 0)
    try pair.ben.run("hand-over", "Liam", "--to", "Adult A", "--yes", expecting: 0)
    try pair.meet()
    try pair.anna.run("accept", "Liam", "--yes", expecting: 0)
    try pair.meet()
    // While the remote cannot be reached nothing is forgotten.
    #expect(rename(pair.remote, pair.remote + " away") == 0)
    #expect(
      try pair.ben.run("leave", "--yes", expecting: 10).errors.contains("keeps its keys"))
    #expect(rename(pair.remote + " away", pair.remote) == 0)
    let left = try pair.ben.run("leave", "--yes", expecting: 0).output
    #expect(left.contains("You have left the vault."))
    let status = try pair.ben.run("status", expecting: 0).output
    #expect(status.contains("this machine has no key yet"))
    #expect(!status.contains("Remote"))
    let seen = try pair.anna.run("sync", expecting: 0).output
    #expect(seen.contains("Ben has left Emma"))
    #expect(seen.contains("Ben has left Liam"))
    let accesses = try pair.anna.run("access", "list", expecting: 0).output
    // He gave her Liam; he is in none of the two.
    #expect(!accesses.contains("Emma     Ben") && !accesses.contains("Liam     Ben"))
    #expect(!accesses.contains("Emma    Ben") && !accesses.contains("Liam    Ben"))
    #expect(try pair.anna.run("member", "list", expecting: 0).output.contains("Liam"))
  }

  @Test func whatWasMadeByMistakeIsThereForWhoeverIsNext() throws {
    let program = try Program.withVault()
    try program.run("member", "add", "Untitled folder", expecting: 0)
    let refused = try program.run("leave", "Untitled folder", "--yes", expecting: 10).errors
    #expect(refused.contains("A member cannot be removed"), "\(refused)")
    #expect(refused.contains("kinvault member rename 'Untitled folder' NAME"), "\(refused)")
    try program.run("member", "rename", "Untitled folder", "Mia", expecting: 0)
    // With anything in it, it is handed over as any other.
    try program.run("record", "add", "--member", "Mia", "--title", "Visit", expecting: 0)
    let used = try program.run("leave", "Mia", "--yes", expecting: 10).errors
    #expect(used.contains("kinvault hand-over Mia --to PERSON"), "\(used)")
  }

  /// What nobody has got yet is damaged here: without the keys of this machine it could not even be told.
  @Test func nobodyLeavesBehindWhatCannotBeSent() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    try pair.ben.write("last", titled: "Last")
    try pair.ben.attach("scan.jpg", byteCount: 50_000, to: "Emma/Notes/2025-01-20 Last")
    func shell(_ script: String, _ argument: String) throws -> String {
      let result = try CommandRunner.run("sh", ["-c", "set -e; " + script, "", argument])
      #expect(result.status == 0, "\(result.errors)")
      return result.output
    }
    let found = try shell("find \"$1\"/members/*/objects -type f -size +40k", pair.ben.vault)
      .split(separator: "\n").map(String.init)
    try #require(found.count == 1, "\(found)")
    let scan = found[0]
    let whole = pair.ben.program.folder.appending("whole").string
    _ = try shell("cp -p \"$1\" '\(whole)'; truncate -s 30000 \"$1\"", scan)
    let refused = try pair.ben.run("leave", "--yes", expecting: 10)
    #expect(refused.errors.contains("usb: ") || refused.errors.contains("origin: "))
    #expect(refused.errors.contains("you have left nothing yet, and this machine keeps its keys"))
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("Emma"))
    _ = try shell("mv '\(whole)' \"$1\"", scan)
    #expect(try pair.ben.run("leave", "--yes", expecting: 0).output.contains("left the vault"))
    try pair.anna.run("sync", expecting: 0)
    #expect(try pair.anna.run("record", "list", expecting: 0).output.contains("Last"))
    try pair.anna.expectWhole()
  }

  /// What a mount had saved when it was killed, and cannot be brought in here, would be gone with this machine's state.
  @Test func nobodyLeavesBehindWhatACrashLeft() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    let writer = String(repeating: "ab", count: 8)
    let member = String(repeating: "cd", count: 32)
    func inState(_ script: String) throws {
      let done = try CommandRunner.run(
        "sh", ["-ec", "cd \"$0\"/kinvault/*/; \(script)", pair.ben.state])
      try #require(done.status == 0, "\(done.errors)")
    }
    // Of a member that this person cannot open.
    try inState(
      "mkdir -p redo/\(writer); : > redo/\(writer)/lock; echo x > redo/\(writer)/\(member)")
    let refused = try pair.ben.run("leave", "--yes", expecting: 10)
    #expect(refused.errors.contains("redo/\(writer)/\(member)"), "\(refused.errors)")
    #expect(refused.errors.contains("you have left nothing yet"), "\(refused.errors)")
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("Emma"))
    try inState("rm redo/\(writer)/\(member)")
    #expect(try pair.ben.run("leave", "--yes", expecting: 0).output.contains("left the vault"))
  }

  /// Whoever has left a member can bring nothing into it any more.
  @Test func nobodyLeavesAMemberForWhichACrashLeftSomething() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    let writer = String(repeating: "ab", count: 8)
    func inRedo(_ script: String) throws {
      let done = try CommandRunner.run(
        "sh",
        [
          "-ec",
          "member=$(basename \"$1\"/members/*); cd \"$0\"/kinvault/*/; mkdir -p redo/\(writer); "
            + "cd redo/\(writer); \(script)", pair.ben.state, pair.ben.vault,
        ])
      try #require(done.status == 0, "\(done.errors)")
    }
    // A folder in the place of a file cannot be read.
    try inRedo(": > lock; mkdir $member")
    let refused = try pair.ben.run("leave", "Emma", "--yes", expecting: 10)
    #expect(refused.errors.contains("you have left nothing yet"), "\(refused.errors)")
    #expect(refused.errors.contains("Then: kinvault leave Emma"), "\(refused.errors)")
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("Emma"))
    try inRedo("rmdir $member")
    #expect(try pair.ben.run("leave", "Emma", "--yes", expecting: 0).output.contains("left Emma"))
  }

  @Test func handingOver() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.anna.run("hand-over", "Emma", "--to", "Ben", expecting: 10)
    try pair.anna.run("hand-over", "Emma", expecting: 2)
    try pair.anna.run("hand-over", "Emma", "--to", "Adult A", "--yes", expecting: 2)
    let none = try pair.anna.run("hand-over", "Emma", "--withdraw", expecting: 6)
    #expect(none.errors.contains("You offer nobody your place"))
    let done = try pair.anna.run("hand-over", "Emma", "--to", "Ben", "--yes", expecting: 0)
    #expect(done.output.contains("Nothing changes until they agree."))
    #expect(done.output.contains("kinvault accept Emma"))
    #expect(done.errors == "")
    try pair.anna.run("unlock", expecting: 0)
    #expect(
      try pair.anna.run("status", expecting: 0).output.contains(
        "You offer Ben your place among the owners of Emma. They have not agreed yet."))
    try pair.anna.run("sync", expecting: 0)
    // The sync that brings it says so, and no command after that; status goes on to.
    let told = "Adult A offers you their place among the owners of Emma"
    #expect(try pair.ben.run("sync", expecting: 0).errors.contains(told))
    #expect(!(try pair.ben.run("member", "list", expecting: 0).errors.contains(told)))
    try pair.ben.run("unlock", expecting: 0)
    #expect(try pair.ben.run("status", expecting: 0).output.contains(told))
    #expect(
      try pair.ben.run("accept", expecting: 0).output.contains("their place as an owner"))
    try pair.ben.run("accept", "Emma", expecting: 10)
    let agreed = try pair.ben.run("accept", "Emma", "--yes", expecting: 0)
    #expect(agreed.output.contains("You have agreed to take Adult A's place"))
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("viewer"))
    #expect(
      try pair.ben.run("status", expecting: 0).output.contains("You have agreed to take Adult A's"))
    try pair.ben.run("sync", expecting: 0)
    let synced = try pair.anna.run("sync", expecting: 0).output
    #expect(synced.contains("Ben has your place among the owners of Emma now"))
    #expect(synced.contains("kinvault leave Emma"))
    try pair.ben.run("sync", expecting: 0)
    #expect(try pair.anna.run("member", "list", expecting: 0).output.contains("editor"))
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("owner"))
    #expect(try pair.ben.run("access", "list", expecting: 0).output.contains("owner, 1st"))
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 8)
    try pair.anna.write("two", titled: "Vaccine")
    try pair.meet()
    #expect(try pair.ben.run("record", "list", expecting: 0).output.contains("Vaccine"))
    for machine in [pair.anna, pair.ben] { try machine.expectWhole() }
  }

  @Test func anOfferTakenBackAndOneToSomebodyWithoutAccess() throws {
    let pair = try InvitedPair()
    try pair.join()
    try pair.anna.run("sync", expecting: 0)
    let refused = try pair.anna.run("hand-over", "Emma", "--to", "Ben", "--yes", expecting: 10)
    #expect(refused.errors.contains("kinvault share Emma --with Ben --role editor"))
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    try pair.meet()
    try pair.anna.run("hand-over", "Emma", "--to", "Ben", "--yes", expecting: 0)
    try pair.meet()
    let back = try pair.anna.run("hand-over", "Emma", "--withdraw", expecting: 0)
    #expect(back.output.contains("You keep your place"))
    try pair.meet()
    #expect(
      try pair.ben.run("accept", "Emma", "--yes", expecting: 6).errors.contains("Nobody offers"))
    #expect(try pair.ben.run("accept", expecting: 0).output.contains("nothing to accept"))
  }
}
