import MachineState
import SystemPackage
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// A tablet was somebody else's for some days before its person noticed: `kinvault device revoke --since`.
@Suite struct DisownedCommandTests {
  private let pair: InvitedPair
  private let tablet: Machine
  private let words: String
  /// The day on which it was stolen; what it signs in the tests was signed after that.
  private let yesterday: String

  private var desk: Machine { pair.anna }

  /// The tablet has written one record five days ago. Ben has joined, and nothing is shared with him.
  init() throws {
    pair = try InvitedPair()
    try pair.join()
    words = pair.anna.program.wordsFile
    tablet = Machine("tablet", beside: pair.anna.program)
    yesterday = try Self.day("yesterday")
    try desk.run("sync", expecting: 0)
    try tablet.run(
      "clone", pair.remote, tablet.vault, "--name", "usb", "--words-file", words, "--device",
      "tablet", expecting: 0)
    try writeFiveDaysAgo("Old")
    try meet()
  }

  private static func day(_ which: String) throws -> String {
    let date = try CommandRunner.run("date", ["-u", "-d", which, "+%F"])
    return String(date.output.prefix(10))
  }

  private func meet() throws {
    for machine in [tablet, desk] { try machine.run("sync", expecting: 0) }
  }

  /// What the program writes on the tablet while its clock says that it is five days earlier.
  private func writeFiveDaysAgo(_ title: String) throws {
    let copy = try VaultCopy.find(
      in: FilePath(tablet.vault),
      stateRoot: tablet.program.folder.appending("tablet state/kinvault"),
      clock: WallClock { WallClock.system.milliseconds() - 5 * 86_400_000 })
    let key = try UnlockSlots(of: copy)
      .open(password: SecretBytes(copying: Array("correct horse battery".utf8))).takeKey()
    let vault = try Vault.open(copy, key: key)
    let emma = try #require(vault.members.first)
    let record = RecordEdit(
      record: .random(), isNew: true,
      place: RecordPlace(parent: .root, title: try #require(FileName(title))),
      attributes: RecordAttributes(mode: 0o700))
    #expect(try emma.commit([record]).failures.isEmpty)
    try vault.close()
  }

  private func revoke(_ options: String..., expecting status: Int32) throws -> CommandResult {
    let result = try CommandRunner.run(
      "setsid",
      ["-w", Program.executable, "device", "revoke", "tablet", "--words-file", words] + options,
      environment: desk.environment)
    #expect(result.status == status, "\(options): \(result.output)\(result.errors)")
    return result
  }

  private func history(_ path: String) throws -> String {
    try desk.run("history", path, expecting: 0).output
  }

  @Test func whatItSignedSinceIsToldAndCountsNoMore() throws {
    let (visit, new) = ("Emma/Notes/2025-01-20 Visit", "Emma/Notes/2025-01-20 New")
    try tablet.replace("one", by: "two", in: visit)
    try tablet.write("three", titled: "New")
    try tablet.run("people", "list", expecting: 0)
    try tablet.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
    try meet()
    #expect(try desk.run("access", "list", "--member", "Emma", expecting: 0).output.contains("Ben"))

    // What will fall stands before the question, and without a yes nothing is changed.
    let asked = try revoke("--since", yesterday, expecting: 10).errors
    let told =
      "What tablet signed since \(yesterday) 00:00 will not count as yours: what it wrote of 2 records, and 1 change of "
      + "who has access to Emma:\n  \(new)\n  \(visit)\n"
    #expect(asked.contains(told), "\(asked)")
    #expect(asked.contains("made Ben editor of Emma (will not count)"), "\(asked)")
    #expect(!asked.contains("all of it stays") && !asked.contains("Old"), "\(asked)")
    let question = try #require(asked.split(separator: "\n").last { $0.contains("Remove tablet") })
    #expect(try #require(asked.firstRange(of: told)).upperBound <= question.startIndex)
    #expect(try desk.run("device", "list", expecting: 0).output.contains("tablet"))
    #expect(try !history(new).contains("not certain"))

    let removed = try revoke("--since", yesterday, "--yes", expecting: 0)
    #expect(removed.output.contains("tablet has been removed.\n"))
    #expect(try history(new).contains("tablet, removed: not certain"))
    #expect(try history("Emma/Old").contains("tablet, since removed"))
    // The note is as it was, and can be taken back.
    #expect(try desk.run("record", "show", visit, expecting: 0).output.contains("two"))
    let lines = try history(visit).split(separator: "\n")
    #expect(lines.count { $0.contains("not certain") } == 1, "\(lines)")
    #expect(
      try !desk.run("access", "list", "--member", "Emma", expecting: 0).output.contains("Ben"))
    try desk.run("sync", expecting: 0)
    try desk.expectWhole()
  }

  @Test func whatItSignedBeforeGoesOnToCount() throws {
    let nothing = "Nothing that tablet signed since \(yesterday) 00:00 is known here"
    let removed = try revoke("--since", yesterday, "--yes", expecting: 0)
    #expect(removed.errors.contains(nothing), "\(removed.errors)")
    #expect(removed.errors.contains("tablet could say for all of your devices"))
    #expect(try history("Emma/Old").contains("tablet, since removed"))
  }

  @Test func itTakesADayThatHasBegun() throws {
    let tomorrow = try Self.day("tomorrow")
    for (date, hint) in [
      (String(yesterday.prefix(7)), "--since takes a whole date, such as 2026-11-20."),
      (tomorrow, "--since takes a day that has begun: \(tomorrow) is still to come."),
      ("yesterday", "--since"),
    ] {
      let refused = try revoke("--since", date, "--yes", expecting: 2)
      #expect(refused.errors.contains(hint), "\(date): \(refused.errors)")
    }
    #expect(try desk.run("device", "list", expecting: 0).output.contains("tablet"))
  }
}
