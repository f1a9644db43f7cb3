import Glibc
import SystemPackage
import TestSupport
import Testing

/// What the audit log says of what nobody was asked about, with the built program.
@Suite struct AuditCommandTests {
  private let program: Program

  init() throws { program = try Program.withVault() }

  private func audit(_ arguments: String...) throws -> [String] {
    let result = try CommandRunner.run(
      Program.executable, ["audit"] + arguments, environment: program.environment)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    return result.output.split(whereSeparator: \.isNewline).map(String.init)
  }

  private func copy(_ from: String, to: String) throws {
    #expect(
      try CommandRunner.run("cp", ["-a", from, to], environment: program.environment).status == 0)
  }

  private func remove(_ folder: String) throws {
    #expect(
      try CommandRunner.run("rm", ["-r", folder], environment: program.environment).status == 0)
  }

  /// Runs a script with the folder of each vault's state as `$state`.
  private func eachState(_ script: String) throws {
    let states = program.folder.appending("state/kinvault").string
    let done = try CommandRunner.run(
      "sh", ["-ec", "for state in \"$0\"/*; do \(script); done", states],
      environment: program.environment)
    #expect(done.status == 0, "\(done.errors)")
  }

  /// A record is added, which is said though something else fails, and is there once that is mended.
  private func expectSaved(mending mend: () throws -> Void) throws {
    let told = try program.run(
      "record", "add", "--member", "Emma", "--title", "Visit",
      environment: ["KINVAULT_UNATTENDED": "1"])
    #expect(told.status != 0)
    #expect(
      told.errors.contains("What was changed in the vault is saved"), "\(told.output)\(told.errors)"
    )
    try mend()
    #expect(try program.run("record", "list", expecting: 0).output.contains("Visit"))
  }

  /// Whoever takes what they saved for lost saves it twice, or worse.
  @Test func whatCouldNotBeNotedIsSaidToBeDone() throws {
    // No event can be kept where a file stands in the place of their folder.
    try eachState(
      "mkdir -p \"$state/events\"; mv \"$state/events\" \"$state/aside\"; : > \"$state/events\"")
    try expectSaved {
      try eachState("rm \"$state/events\"; mv \"$state/aside\" \"$state/events\"")
    }
  }

  /// It counts by then: whoever is not shown the invitation has made one for nobody.
  @Test func whatIsDoneIsShownWhateverClosingDoes() throws {
    try eachState(
      "mkdir -p \"$state/events\"; mv \"$state/events\" \"$state/aside\"; : > \"$state/events\"")
    for (arguments, shown) in [
      (["invite"], "-"),
      (["record", "add", "--member", "Emma", "--title", "Visit", "--date", "2025"], "Added Emma"),
      (["member", "rename", "Emma", "Emilia"], "Renamed to Emilia."),
      (["device", "rename", "Kitchen"], "is now called Kitchen."),
    ] {
      let told = try CommandRunner.run(
        Program.executable, arguments,
        environment: program.environment.merging(["KINVAULT_UNATTENDED": "1"]) { $1 })
      #expect(told.status != 0, "\(arguments)")
      #expect(told.output.contains(shown), "\(arguments): \(told.output)\(told.errors)")
    }
  }

  @Test func whatPeopleSettleCannotBeToldAndAllIsDone() throws {
    // It cannot be read which offers were told.
    try eachState("rm -rf \"$state/told-offers\"; mkdir \"$state/told-offers\"")
    try expectSaved { try eachState("rmdir \"$state/told-offers\"") }
  }

  @Test func whatWasTriedIsToldToWhoeverUnlocksNext() throws {
    let wrong = program.folder.appending("wrong").string
    try program.write("not it\n", to: wrong)
    try program.write(String(repeating: "abandon ", count: 23) + "art\n", to: wrong + " words")
    try program.run("lock", expecting: 0)
    for _ in 0..<2 {
      try program.run("member", "list", "--password-file", wrong, expecting: 3)
    }
    try program.run(
      "recover", "--words-file", wrong + " words", "--password-file", program.passwordFile,
      expecting: 3)
    // Nothing that runs by itself takes that from whoever is to hear it.
    try program.run("member", "list", environment: ["KINVAULT_UNATTENDED": "1"], expecting: 0)
    let told = try program.run("unlock", expecting: 0)
    #expect(told.errors.contains("2 wrong passwords"), "\(told.errors)")
    #expect(told.errors.contains("wrong words 1 time"), "\(told.errors)")
    #expect(try program.run("member", "list", expecting: 0).errors == "")
    #expect(try audit("--action", "refused").count == 4)
    #expect(try audit("--action", "lock").count >= 1)
    #expect(try audit("--action", "refused", "--text", "WORDS").count == 2)
    #expect(try audit("--action", "refused", "--until", "2020-01-01") == ["No events."])
  }

  /// A slip of the finger is not to look like innocence.
  @Test func aNameThatNobodyHasIsTold() throws {
    for (option, name) in [("--device", "nope"), ("--person", "nobody"), ("--record", "Emma/Nope")]
    {
      let result = try program.run("audit", option, name, expecting: 0)
      #expect(result.output.contains("No events") && result.errors.contains(name), "\(result)")
    }
    #expect(try audit("--since", "yesterday").count > 1)
    #expect(try audit("--until", "yesterday") == ["No events."])
    let words = program.folder.appending("words").string
    try program.write(String(repeating: "abandon ", count: 23) + "art\n", to: words)
    try program.run("recovery", "test", "--words-file", words, expecting: 3)
    #expect(try audit("--action", "refused", "--text", "words").count == 2)
  }

  /// Most unlock by mounting. And whoever reads the log while a mount is there finds what was done in it.
  @Test func aMountTellsItTooAndItsEventsAreInTheLogAtOnce() throws {
    let wrong = program.folder.appending("wrong").string
    try program.write("not it\n", to: wrong)
    try program.run("lock", expecting: 0)
    try program.run("member", "list", "--password-file", wrong, expecting: 3)
    let place = program.folder.appending("mount").string
    let mounted = try program.run("mount", place, expecting: 0)
    defer { _ = try? program.run("unmount", place) }
    #expect(mounted.errors.contains("1 wrong password"), "\(mounted.errors)")
    #expect(try audit("--action", "mount").count == 2)
    let note = place + "/Emma/note.txt"
    func actions() throws -> Set<String> {
      let found = try audit("--member", "Emma", "--text", "note.txt")
      return Set(["read", "write", "delete"]).filter { action in
        found.contains { $0.contains(" \(action) ") }
      }
    }
    try program.write("by hand", to: note)
    #expect(try actions() == ["write"])
    #expect(try CommandRunner.run("cat", [note]).output == "by hand")
    #expect(try actions() == ["write", "read"])
    try #require(unlink(note) == 0)
    #expect(try actions() == ["write", "read", "delete"])
    try program.run("unmount", place, expecting: 0)
  }

  @Test func whatARemoteHidesIsToldUntilSomebodyHasLooked() throws {
    let remote = program.folder.appending("remote").string
    try program.run("remote", "add", "usb", remote, expecting: 0)
    try program.run("sync", expecting: 0)
    try copy(remote, to: remote + ".before")
    try program.run("record", "add", "--member", "Emma", "--title", "Wrist", expecting: 0)
    try program.run("sync", expecting: 0)
    try remove(remote)
    try copy(remote + ".before", to: remote)
    try program.run("sync")
    let status = try program.run("status", expecting: 0)
    #expect(status.output.contains("Tampering:"), "\(status.output)")
    for _ in 0..<2 {
      #expect(try program.run("member", "list", expecting: 0).errors.contains("audit acknowledge"))
    }
    let found = try audit("--action", "tampering")
    #expect(found.count > 1 && found.allSatisfy { !$0.contains("Wrist") }, "\(found)")
    #expect(found.dropFirst().allSatisfy { $0.contains("usb") && $0.contains("went back") })
    let seen = try program.run("audit", "acknowledge", expecting: 0)
    #expect(seen.output.contains("went back"))
    #expect(try program.run("member", "list", expecting: 0).errors == "")
    #expect(try !program.run("status", expecting: 0).output.contains("Tampering:"))
    #expect(try audit("--action", "acknowledge").count == 2)
    // It stays in the log.
    #expect(try audit("--action", "tampering") == found)
  }

  @Test func namesStayAndSpreadsheetsGetNoFormulas() throws {
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Wrist", "--date", "2025-03-01", expecting: 0)
    try program.run("member", "rename", "Emma", "@SUM", expecting: 0)
    let lines = try audit("--csv", "--action", "create", "--text", "wrist")
    #expect(lines.count == 2)
    #expect(lines.first == #""time","device","action","member","path","about","detail","count""#)
    let made = #","create","Emma","Emma/Notes/2025-03-01 Wrist","","","1""#
    #expect(lines.last?.contains(made) ?? false, "\(lines)")
    let path = "@SUM/Notes/2025-03-01 Wrist"
    try program.run("record", "show", path, expecting: 0)
    let read = try audit("--csv", "--action", "read")
    #expect(read.last?.contains(#""'@SUM","'@SUM/Notes/2025-03-01 Wrist""#) ?? false, "\(read)")
    // What was noted under the older name is of the same record.
    #expect(try audit("--record", path).count == 3)
    #expect(try audit("--device", "no such device") == ["No events."])
    try program.run("audit", "--csv", "--json", expecting: 2)
    try program.run("audit", "--action", "reading", expecting: 2)
    try program.run("audit", "--since", "last week", expecting: 2)
  }
}
