import Foundation
import SystemPackage
import TestSupport
import Testing

/// `kinvault open`, in real browsers and from outside. What happens in a browser stands in the scripts beside this file.
@Suite(.timeLimit(.minutes(60))) struct PageTests {
  /// Two machines have changed one note; an allergy that is to be found; Ben has joined, and nothing is shared with him.
  private static func family() throws -> Program {
    let program = try Program.withVault()
    let desk = Machine(first: program)
    try program.run(
      "record", "add", "--member", "Emma", "--type", "allergy", "--title", "Penicillin", "--date",
      "2024-05-02", "--field", "severity=severe", "--note", "Rash.", expecting: 0)
    try program.run(
      "record", "add", "--member", "Emma", "--title", "ليلى - فحص الدم", "--date", "2024-03-01",
      expecting: 0)
    try program.run("member", "add", "Liam", expecting: 0)
    try desk.write("first", titled: "Both")
    let usb = program.folder.appending("usb").string
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    let laptop = Machine("laptop", beside: program)
    try laptop.clone(usb)
    for (machine, text) in [(laptop, "second"), (desk, "third")] {
      try machine.replace("first", by: text, in: "Emma/Notes/2025-01-20 Both")
    }
    for machine in [laptop, desk, laptop, desk] { try machine.run("sync", expecting: 0) }
    let invitation = program.folder.appending("invitation").string
    try program.write(
      try desk.run("invite", "--remote", "usb", expecting: 0).output, to: invitation)
    try Machine("ben", beside: program).run(
      "join", "--invitation-file", invitation, "--name", "Ben", "--remote-name", "usb",
      "--words-out", program.folder.appending("ben's words").string, "--yes", expecting: 0)
    try desk.run("sync", expecting: 0)
    try program.run("lock", expecting: 0)
    return program
  }

  /// Beside this file.
  private static func file(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: name).path
  }

  private static var python: String { file("../../.build-python/bin/python") }

  /// Has a browser go through the page, which asks for the password, and lock it.
  private func tell(_ story: String, to program: Program, _ arguments: [String]) throws {
    let page = try RunningPage(program, environment: ["KINVAULT_PASSWORD_FILE": nil])
    // Without -B what the stories have in common would be kept, compiled, beside them.
    let running = try RunningCommand(
      Self.python,
      ["-B", Self.file(story), page.address, page.code, "correct horse battery"] + arguments,
      environment: program.environment.merging([
        "MARIONETTE_PORT": "\(LoopbackPorts.take(1)[0])"
      ]) { $1 })
    let told = running.wait(timeout: .seconds(600))
    #expect(told.status == 0, "\(told.output)\(told.errors)")
    if told.status != 0 { page.command.signal(SIGTERM) }
    // Whoever locks the page locks the vault.
    #expect(try page.end() == 0)
  }

  private static func photo(in program: Program) throws -> String {
    let photo = program.folder.appending("photo of the card.jpg").string
    let drawn = try CommandRunner.run(
      "convert", ["-size", "1200x900", "plasma:tomato-steelblue", photo],
      environment: program.environment)
    #expect(drawn.status == 0)
    return photo
  }

  /// What a story is given: a photo to attach, the program, and a folder for pictures of what is shown, if they are wanted.
  private static func belongings(in program: Program) throws -> [String] {
    let shots = getenv("KINVAULT_SHOTS").map { [String(cString: $0)] } ?? []
    return [try photo(in: program), try Program.executable] + shots
  }

  /// Who takes the port of a page that is over is told nothing by browsers in which it is open still.
  @Test func aStrangerOnThePortIsToldNothing() throws {
    let program = try Program.withVault()
    try program.run("lock", expecting: 0)
    let page = try RunningPage(program, environment: ["KINVAULT_PASSWORD_FILE": nil])
    let story = try RunningCommand(
      Self.python,
      [Self.file("stranger.py"), page.address, page.code, "\(page.command.processID)"],
      environment: program.environment)
    let told = story.wait()
    #expect(told.status == 0, "\(told.output)\(told.errors)")
    if told.status != 0 { page.command.signal(SIGKILL) }
    _ = page.command.wait()
  }

  /// In a browser that is let in, pages of somebody else ask for what is there: by the page's name, and by their own, which they
  /// have lead to its port (DNS rebinding).
  @Test(arguments: ["chromium", "firefox"])
  func aPageOfSomebodyElseGetsNothing(browser: String) throws {
    let program = try Program.withVault()
    try program.run("record", "add", "--member", "Emma", "--title", "Penicillin", expecting: 0)
    try program.run("lock", expecting: 0)
    try tell("rebinding.py", to: program, [browser])
  }

  @Test func firefoxShowsItAsWell() throws {
    let program = try Self.family()
    try tell("firefox.py", to: program, try Self.belongings(in: program))
  }

  @Test func theStoryOfSomebodyWithoutATerminal() throws {
    let program = try Self.family()
    try tell("page.py", to: program, try Self.belongings(in: program))
    #expect(try program.run("status").output.contains("locked"))
    let log = try program.run("audit").output
    for word in [
      "unlock", "refused", "search", "read", "create", "write", "export", "delete", "share",
      "revoke",
    ] {
      #expect(log.contains(word), "\(word)")
    }
  }

  /// A lazy vault has no scan here: lists show none, and whoever looks at it has it brought.
  @Test func aPictureThatIsKeptElsewhereIsBroughtWhenSomebodyLooksAtIt() throws {
    let program = try Program.withVault()
    let desk = Machine(first: program)
    let usb = program.folder.appending("usb").string
    let photo = try Self.photo(in: program)
    try desk.write("of the pass", titled: "Card")
    try desk.run("attach", "Emma/Notes/2025-01-20 Card", photo, expecting: 0)
    let slice = program.folder.appending("IM1").string
    var bytes = Data((0..<200_000).map { _ in UInt8.random(in: 0...255) })
    bytes.replaceSubrange(128..<132, with: Data("DICM".utf8))
    try bytes.write(to: URL(filePath: slice))
    try desk.run("attach", "Emma/Notes/2025-01-20 Card", slice, expecting: 0)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    let laptop = Machine("laptop", beside: program)
    try laptop.clone(usb, "--lazy")
    let page = try RunningPage(program, environment: laptop.environment.mapValues { $0 })
    let visitor = try PageVisitor(page, in: program.folder.path)
    let record = try #require(
      visitor.records().first { try visitor.get($0).body.contains("photo of the card") })
    let digits = "photo of the card.jpg".utf8.map { String($0, radix: 16) }.joined()
    let file = "\(record)/files/\(digits)"
    #expect(try visitor.get("\(file)/picture").status == 404)
    #expect(try visitor.get(file).status == 200)
    let large = try visitor.get("\(file)/picture?size=large")
    #expect(large.status == 200 && large.header("content-type") == "image/webp")
    #expect(try visitor.get("\(file)/picture").status == 200)
    // What its name does not say, its beginning does, which is brought as well; where it cannot be, that is told.
    let plain = "\(record)/files/" + "IM1".utf8.map { String($0, radix: 16) }.joined()
    let drawer = program.folder.appending("drawer").string
    try FileManager.default.createDirectory(atPath: drawer, withIntermediateDirectories: false)
    let kept = try FileManager.default.contentsOfDirectory(atPath: usb)
    for name in kept { #expect(rename("\(usb)/\(name)", "\(drawer)/\(name)") == 0) }
    let away = try visitor.get(plain)
    #expect(away.status == 500 && !away.body.contains("no picture"), "\(away.body)")
    for name in kept { #expect(rename("\(drawer)/\(name)", "\(usb)/\(name)") == 0) }
    #expect(try visitor.get(plain).body.contains("IM1"))
    page.command.signal(SIGTERM)
    #expect(try page.end() == 0)
  }

  /// A folder that was copied from a disc in a mount is one record of the list, with the date of its title and a way up; before
  /// there is anybody to have records, the page says what makes a member.
  @Test func aDiscIsOneRecordAndAVaultWithoutMembersSaysWhatMakesOne() throws {
    let program = try Program()
    try program.run(
      "init", "--vault", program.vault, "--name", "Adult A", "--password-file",
      program.passwordFile, "--words-out", program.wordsFile, "--yes", expecting: 0)
    let page = try RunningPage(program)
    let visitor = try PageVisitor(page, in: program.folder.path)
    #expect(try visitor.get("/").body.contains("kinvault member add"))
    try program.run("member", "add", "Emma", expecting: 0)
    let mount = program.folder.appending("mount").string
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
    try program.run("mount", mount, expecting: 0)
    let series = "\(mount)/Emma/2024-11-02 CT head/DICOM/SE1"
    try FileManager.default.createDirectory(atPath: series, withIntermediateDirectories: true)
    try Data("slice".utf8).write(to: URL(filePath: "\(series)/IM1"))
    try program.run("unmount", mount, expecting: 0)
    var list = ""
    for _ in 0..<1200 where !list.contains("CT head") {
      usleep(100_000)
      list = try visitor.get("/").body
    }
    #expect(list.contains("2 November 2024") && !list.contains("kinvault member add"))
    #expect(!list.contains("SE1") && !list.contains("DICOM") && !list.contains("no date"))
    let record = try #require(
      visitor.records().first { try visitor.get($0).body.contains("<h1><bdi>CT head</bdi></h1>") })
    #expect(try visitor.get(record).body.contains("<bdi>DICOM</bdi>"))
    page.command.signal(SIGTERM)
    #expect(try page.end() == 0)
  }

  @Test func itEndsWithASignal() throws {
    let program = try Program.withVault()
    let page = try RunningPage(program)
    #expect(try CommandRunner.run("curl", ["-s", page.address], environment: [:]).status == 0)
    page.command.signal(SIGTERM)
    #expect(try page.end() == 0)
    // No file with a code stays, and the port is free.
    #expect(try CommandRunner.run("curl", ["-s", page.address], environment: [:]).status == 7)
  }
}
