import Glibc
import MachineState
import TestSupport
import Testing
import Vault
import VaultModel

@Suite struct UnshareCommandTests {
  @Test func takesTheAccessAwayAndTheOldFilesFromTheRemote() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.anna.run("unshare", "Emma", "--with", "Nobody", expecting: 6)
    let done = try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
    #expect(done.output == "Ben has no access to Emma any more.\n")
    #expect(done.errors.contains("cannot be recalled"))
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 6)
    try pair.ben.run("unshare", "Emma", "--with", "Adult A", expecting: 8)
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    try pair.ben.run("unshare", "Emma", "--with", "Adult A", expecting: 6)
    try pair.anna.expectWhole()
  }

  /// Their notes show nowhere from then on, and those that they had not sent nowhere else.
  @Test func whoIsLetOutIsToldAndWhatBecomesOfTheirWork() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    try pair.ben.write("two", titled: "Unsent")
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
    try pair.anna.run("sync", expecting: 0)
    let told =
      "An owner has taken your access to Emma away. What this machine had saved of it, and nobody had got, is kept"
    let synced = try pair.ben.run("sync", expecting: 0).output
    #expect(synced.contains(told), "\(synced)")
    // A sync tells it once, the status as long as it is so.
    #expect(try !pair.ben.run("sync", expecting: 0).output.contains("your access"))
    try pair.ben.run("unlock", expecting: 0)
    let status = try pair.ben.run("status", expecting: 0).output
    if status.contains("You are") { #expect(status.contains(told), "\(status)") }
    #expect(try pair.ben.accessNotes().contains { $0.hasPrefix(told) })
    #expect(try pair.ben.run("check").output.contains(told))
    try pair.anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    try pair.meet()
    #expect(try pair.anna.run("record", "list", expecting: 0).output.contains("Unsent"))
  }

  @Test func anOwnerWhoWasThereBeforeIsNotTakenOut() throws {
    let pair = try InvitedPair.sharing(as: "owner")
    let refused = try pair.ben.run("unshare", "Emma", "--with", "Adult A", expecting: 8)
    #expect(refused.errors.contains("Adult A has been an owner of Emma for longer than you"))
    #expect(refused.errors.contains("kinvault hand-over"))
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
  }

  /// Ends `unshare` as kill -9 does, once the new keys are being made.
  private func interrupt(_ pair: InvitedPair) throws {
    let pattern = (pair.anna.environment["XDG_STATE_HOME"] ?? "") + "/kinvault/*/epochs/*"
    let running = try pair.anna.start("unshare", "Emma", "--with", "Ben")
    for _ in 0..<400_000 where !running.hasEnded() {
      var found = glob_t()
      defer { globfree(&found) }
      if glob(pattern, 0, nil, &found) == 0 { break }
      usleep(300)
    }
    running.signal(SIGKILL)
    #expect(running.wait().status != 0, "it was over before it could be interrupted")
  }

  @Test(arguments: ["unshare", "write", "sync"])
  func whatWasInterruptedIsToldAndGoneOnWith(by command: String) throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.anna.attach("scan.jpg", byteCount: 80 << 20, to: "Emma/Notes/2025-01-20 Visit")
    try interrupt(pair)
    try pair.anna.run("unlock", expecting: 0)
    let listed = try pair.anna.run("access", "list", expecting: 0).output
    #expect(listed.contains("viewer, being taken away: "), "\(listed)")
    let status = try pair.anna.run("status", expecting: 0).output
    if status.contains("You are") {
      #expect(status.contains("Encrypting Emma anew was interrupted, "), "\(status)")
      #expect(status.contains("until it is done Ben can read it"))
    }
    let interrupted = try pair.anna.accessNotes().filter {
      $0.hasPrefix("Encrypting Emma anew was interrupted, ")
    }
    #expect(interrupted.count == 1)
    #expect(interrupted.allSatisfy { $0.contains("until it is done Ben can read it") })
    switch command {
    case "unshare":
      let again = try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
      #expect(again.output == "Ben has no access to Emma any more.\n")
    case "write":
      let result = try pair.anna.run("member", "add", "Liam", expecting: 0)
      #expect(result.errors.contains("Encrypting Emma anew was interrupted; going on with it."))
    default: try pair.anna.run("sync", expecting: 0)
    }
    #expect(try !pair.anna.run("access", "list", expecting: 0).output.contains("Ben"))
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    try pair.anna.expectWhole()
  }

  /// A disk loses what this machine remembers of it meanwhile.
  @Test(arguments: ["write", "sync"])
  func whatWasInterruptedAndForgottenIsMadeForEveryoneAndTold(by command: String) throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.anna.attach("scan.jpg", byteCount: 80 << 20, to: "Emma/Notes/2025-01-20 Visit")
    try interrupt(pair)
    let torn = try CommandRunner.run(
      "sh", ["-c", "truncate -s 100 \"$1\"/kinvault/*/epochs/*", "tear", pair.anna.state])
    try #require(torn.status == 0, "\(torn.errors)")
    let listed = try pair.anna.run("access", "list", expecting: 0).output
    #expect(listed.contains("Ben") && !listed.contains("being taken away"), "\(listed)")
    let told =
      "They were changed for everyone who has access. If you had taken somebody\u{2019}s access away, see whether they "
      + "still have it (kinvault access list), and take it away again (kinvault unshare)."
    switch command {
    case "write":
      let result = try pair.anna.run("member", "add", "Liam", expecting: 0)
      #expect(result.errors.contains("Encrypting Emma anew was interrupted; going on with it."))
      #expect(result.errors.contains("kinvault: Emma: Its keys were being changed"))
      #expect(result.errors.contains(told), "\(result.errors)")
    default:
      let result = try pair.anna.run("sync", expecting: 1)
      #expect(result.output.contains(told), "\(result.output)")
    }
    for again in [["member", "add", "Ada"], ["sync"]] {
      let quiet = try pair.anna.run(again, expecting: 0)
      #expect(!(quiet.output + quiet.errors).contains("changed for everyone"), "\(quiet)")
    }
    #expect(try pair.anna.run("access", "list", expecting: 0).output.contains("Ben"))
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
    #expect(try !pair.anna.run("access", "list", expecting: 0).output.contains("Ben"))
    try pair.meet()
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    try pair.anna.expectWhole()
  }

  @Test func whatEndsSoonIsTold() throws {
    let pair = try InvitedPair()
    try pair.join()
    try pair.anna.run("sync", expecting: 0)
    var (now, parts) = (time(nil) + 5 * 86_400, tm())
    gmtime_r(&now, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    try pair.anna.run(
      "share", "Emma", "--with", "Ben", "--role", "viewer", "--until", day, expecting: 0)
    #expect(try pair.anna.accessNotes().contains { $0.hasPrefix("Ben's access to Emma ends on ") })
    #expect(try pair.anna.run("access", "list", expecting: 0).output.contains("viewer"))
  }

  /// On the machine of whoever gave it and on that of whom it was given to, until an owner's sync takes the key away.
  @Test func whatHasEndedIsTold() throws {
    let pair = try InvitedPair()
    try pair.join()
    try pair.anna.run("sync", expecting: 0)
    let (anna, ben) = (try pair.anna.opened(), try pair.ben.opened())
    try anna.acceptIntroductions()
    let yesterday = WallClock.system.milliseconds() - 86_400_000
    try anna.share(#require(anna.members.first), with: ben.person, role: .viewer, until: yesterday)
    try anna.close()
    try ben.close()
    let carried = try CommandRunner.run("cp", ["-a", "\(pair.anna.vault)/members", pair.ben.vault])
    #expect(carried.status == 0, "\(carried.errors)")
    #expect(try pair.anna.run("access", "list", expecting: 0).output.contains("viewer, has ended"))
    let ended = try pair.anna.accessNotes().filter {
      $0.hasPrefix("Ben's access to Emma ended on ")
    }
    #expect(ended.count == 1 && ended[0].hasSuffix("the next sync of an owner takes the key away."))
    let given = "was given until a date that has passed."
    #expect(try pair.ben.accessNotes().contains { $0.contains(given) })
    #expect(try pair.ben.run("member", "list", expecting: 0).output.hasPrefix("No members"))
    try pair.anna.run("sync", expecting: 0)
    #expect(try pair.anna.accessNotes().isEmpty)
    #expect(try !pair.anna.run("access", "list", expecting: 0).output.contains("Ben"))
  }
}
