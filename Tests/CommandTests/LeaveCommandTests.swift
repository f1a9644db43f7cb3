import Glibc
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
    // He can be given access again.
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "viewer", expecting: 0)
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("viewer"))
  }

  @Test func leavingTheVault() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.ben.run("member", "add", "Liam", expecting: 0)
    let refused = try pair.ben.run("leave", "--yes", expecting: 10)
    #expect(refused.errors.contains("You are the only owner of Liam"))
    #expect(refused.errors.contains("kinvault hand-over Liam --to PERSON"))
    try pair.ben.run(
      "hand-over", "Liam", "--to", "Adult A", "--keep", "viewer", "--yes", expecting: 0)
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

  @Test func handingOver() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.anna.run("hand-over", "Emma", "--to", "Ben", expecting: 10)
    try pair.anna.run("hand-over", "Emma", "--to", "Adult A", "--yes", expecting: 2)
    try pair.anna.run("hand-over", "Emma", "--to", "Ben", "--keep", "owner", expecting: 2)
    let done = try pair.anna.run("hand-over", "Emma", "--to", "Ben", "--yes", expecting: 0)
    #expect(done.output.contains("once the folders were exchanged, and you stay as an editor."))
    #expect(done.errors == "")
    #expect(try pair.anna.run("access", "list").output.contains("editor"))
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "owner", expecting: 8)
    try pair.anna.run("sync", expecting: 0)
    try pair.meet()
    #expect(try pair.anna.run("member", "list", expecting: 0).output.contains("editor"))
    #expect(try pair.ben.run("member", "list", expecting: 0).output.contains("owner"))
    try pair.anna.write("two", titled: "Vaccine")
    try pair.meet()
    #expect(try pair.ben.run("record", "list", expecting: 0).output.contains("Vaccine"))
    for machine in [pair.anna, pair.ben] { try machine.expectWhole() }
  }
}
