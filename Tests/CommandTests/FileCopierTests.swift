import Glibc
import SystemPackage
import TestSupport
import Testing

/// Two machines whose folders rsync copies file by file in both directions, as Syncthing or Dropbox would, with everything
/// such programs leave behind. No `kinvault sync` is involved.
@Suite struct FileCopierTests {
  private struct Pair {
    let desk: Machine
    let laptop: Machine

    /// Both know the vault, and have a record in it.
    init() throws {
      let program = try Program.withVault()
      desk = Machine(first: program)
      laptop = Machine("laptop", beside: program)
      try desk.write("one", titled: "Visit")
      try copy(from: desk, to: laptop)
      try laptop.run(
        "recover", "--words-file", program.wordsFile, "--password-file", program.passwordFile,
        "--device", "laptop", expecting: 0)
      // What a machine has written holds all that it knew, also while newer heads of others wait for their objects.
      try laptop.write("first", titled: "First")
      try meet()
    }

    func copy(from source: Machine, to target: Machine, _ options: [String] = []) throws {
      let copied = try CommandRunner.run(
        "rsync",
        ["-a", "--update", "--exclude=/staging"] + options
          + [source.vault + "/", target.vault + "/"])
      #expect(copied.status == 0, "\(copied.errors)")
    }

    /// There and back until nothing moves, each machine being used in between.
    func meet(_ options: [String] = []) throws {
      for _ in 0..<3 {
        try copy(from: desk, to: laptop, options)
        try laptop.run("conflicts", "list", expecting: 0)
        try copy(from: laptop, to: desk, options)
        try desk.run("conflicts", "list", expecting: 0)
      }
    }

    func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let (here, there) = (try desk.checksums(), try laptop.checksums())
      #expect(here == there, sourceLocation: sourceLocation)
      for machine in [desk, laptop] {
        try machine.expectWhole(sourceLocation: sourceLocation)
      }
    }
  }

  @Test func editsOnBothSidesConverge() throws {
    let pair = try Pair()
    try pair.desk.write("by desk", titled: "Desk")
    try pair.laptop.write("by laptop", titled: "Laptop")
    try pair.desk.attach("scan.jpg", byteCount: 3_000_000, to: "Emma/Notes/2025-01-20 Visit")
    try pair.meet()
    try pair.expectAgreement()
    let titles = try pair.laptop.run("record", "list", expecting: 0).output
    #expect(titles.contains("Desk") && titles.contains("Laptop"))
  }

  @Test func aConflictIsKeptOnceOnBothSides() throws {
    let pair = try Pair()
    try pair.desk.replace("one", by: "desk", in: "Emma/Notes/2025-01-20 Visit")
    usleep(1_100_000)
    try pair.laptop.replace("one", by: "laptop", in: "Emma/Notes/2025-01-20 Visit")
    try pair.meet()
    for machine in [pair.desk, pair.laptop] {
      let lines = try machine.run("conflicts", "list", expecting: 0).output.split(separator: "\n")
      #expect(lines.count == 3, "\(lines)")
      let shown = try machine.run("record", "show", "Emma/Notes/2025-01-20 Visit", expecting: 0)
        .output
      #expect(shown.contains("laptop"))
    }
    try pair.expectAgreement()
  }

  @Test func backupsAndPartialFilesOfTheCopierDoNoHarm() throws {
    let pair = try Pair()
    let options = ["-b", "--suffix=~", "--partial", "--delay-updates"]
    for round in 0..<3 {
      try pair.desk.write("d\(round)", titled: "Desk \(round)")
      try pair.laptop.write("l\(round)", titled: "Laptop \(round)")
      try pair.meet(options)
    }
    try pair.expectAgreement()
    let found = try CommandRunner.run("find", [pair.laptop.vault, "-name", "*~"])
    #expect(!found.output.isEmpty, "rsync left no backup, so that nothing was tried")
  }

  @Test func aCopyThatIsKilledAndRepeatedLosesNothing() throws {
    let pair = try Pair()
    try pair.desk.attach("scan.jpg", byteCount: 6_000_000, to: "Emma/Notes/2025-01-20 Visit")
    let running = try RunningCommand(
      "rsync",
      [
        "-a", "--update", "--bwlimit=400", "--partial", pair.desk.vault + "/",
        pair.laptop.vault + "/",
      ])
    // All of it would take a quarter of a minute.
    usleep(2_000_000)
    running.signal(SIGTERM)
    #expect(running.wait().status != 0, "it was over before it was killed")
    // What came is not all, and the vault is as it was or as it will be.
    try pair.laptop.run("record", "show", "Emma/Notes/2025-01-20 Visit", expecting: 0)
    try pair.laptop.write("meanwhile", titled: "Meanwhile")
    try pair.meet()
    try pair.expectAgreement()
  }

  @Test func headsThatComeBeforeWhatTheyNameWait() throws {
    let pair = try Pair()
    try pair.desk.write("new", titled: "New")
    try pair.copy(
      from: pair.desk, to: pair.laptop,
      ["--include=*/", "--include=heads/*", "--include=/members/*/heads/*", "--exclude=*"])
    let before = try pair.laptop.run("record", "list", expecting: 0).output
    #expect(before.contains("Visit") && !before.contains("New"))
    try pair.meet()
    try pair.expectAgreement()
    #expect(try pair.laptop.run("record", "list", expecting: 0).output.contains("New"))
  }

  @Test func whatSyncProgramsLeaveIsIgnoredAndReported() throws {
    let pair = try Pair()
    let listed = try CommandRunner.run(
      "find", [pair.laptop.vault, "-path", "*/heads/*", "-type", "f"])
    let head = try #require(listed.output.split(separator: "\n").first)
    let folder = head.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let left = [
      "\(head).sync-conflict-20260301-080000-ABCDEFG",
      "\(head) (Anna's conflicted copy 2026-03-01)",
      "\(head) (conflicted copy 2026-03-01 080000)",
      "\(folder)/.syncthing.head.tmp", "\(folder)/~syncthing~head.tmp", "\(folder)/.head.Ab3dEf",
      "\(pair.laptop.vault)/.stignore", "\(pair.laptop.vault)/.sync_1a2b3c.db",
      "\(pair.laptop.vault)/.dropbox", "\(pair.laptop.vault)/Thumbs.db",
    ]
    let bytes = try pair.laptop.program.read(String(head))
    for path in left { try pair.laptop.program.write(bytes, to: path) }
    for name in [".stfolder", ".stversions"] {
      let made = "\(pair.laptop.vault)/\(name)"
      #expect(mkdir(made, 0o700) == 0)
      try pair.laptop.program.write("x", to: "\(made)/kept.txt")
    }
    // Nextcloud and Dropbox rename whole copies, with old content in them.
    try pair.laptop.write("later", titled: "Later")
    let check = try pair.laptop.run("check", expecting: 0).output
    for name in [".sync-conflict-2026", "conflicted copy", ".stfolder", ".stversions", "Thumbs.db"]
    {
      #expect(check.contains(name), "\(name) is not reported: \(check)")
    }
    try pair.meet()
    try pair.expectAgreement()
    #expect(try pair.desk.run("record", "list", expecting: 0).output.contains("Later"))
  }
}
