import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// `kinvault search` after every kind of change, as a person uses it.
@Suite struct SearchCommandTests {
  private struct Row: Decodable, Equatable {
    var member: String
    var path: String
    var title: String
    var date: String
    var foundIn: String
    var excerpt: String
  }

  private let program: Program
  private let desk: Machine

  init() throws {
    program = try Program.withVault()
    desk = Machine(first: program)
    try program.run("member", "add", "Liam", expecting: 0)
    try desk.write("Arm sore until the evening, no penicillin.", titled: "Visit")
  }

  private func rows(_ words: String..., on machine: Machine? = nil) throws -> [Row] {
    let machine = machine ?? desk
    let result = try CommandRunner.run(
      "setsid", ["-w", Program.executable, "search", "--json"] + words,
      environment: machine.environment)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    return try JSONDecoder().decode([Row].self, from: Data(result.standardOutput))
  }

  private func paths(_ words: String, on machine: Machine? = nil) throws -> [String] {
    try rows(words, on: machine).map(\.path)
  }

  private var visit: String { "Emma/Notes/2025-01-20 Visit" }

  @Test func whatIsFoundIsShownNewestFirstWithTheWordsAround() throws {
    try program.run(
      "record", "add", "--member", "Liam", "--type", "vaccine", "--title", "Penicillin test",
      "--date", "2025-02-03", "--field", "lot=AB123", expecting: 0)
    #expect(
      try rows("penic") == [
        Row(
          member: "Liam", path: "Liam/Vaccines/2025-02-03 Penicillin test",
          title: "Penicillin test",
          date: "2025-02-03", foundIn: "title",
          excerpt: "type: vaccine · date: 2025-02-03 · lot: AB123"),
        Row(
          member: "Emma", path: visit, title: "Visit", date: "2025-01-20", foundIn: "note",
          excerpt: "Arm sore until the evening, no penicillin."),
      ])
    let shown = try program.run("search", "SORE", "arm", expecting: 0)
    #expect(
      shown.output == """
        2025-01-20  \(visit)
                    Arm sore until the evening, no penicillin.

        """)
    #expect(try program.run("search", "lumbago", expecting: 0).output == "Nothing was found.\n")
    #expect(try program.run("search", "***", expecting: 0).output == "Nothing was found.\n")
    #expect(try rows("penicillin", "--limit", "1").map(\.member) == ["Liam"])
    let cut = try program.run("search", "penicillin", "--limit", "1", expecting: 0)
    #expect(cut.errors == "The newest 1 of 2 records. To see more: --limit 2\n")
    #expect(try rows("penic", "--member", "Emma").count == 1)
    #expect(try rows("penic", "--type", "vaccine").map(\.member) == ["Liam"])
    #expect(try rows("penic", "--since", "2025-02").map(\.member) == ["Liam"])
    #expect(try rows("penic", "--until", "2025-01").map(\.member) == ["Emma"])
    try program.run("search", expecting: 2)
    try program.run("search", "a", "--limit", "0", expecting: 2)
    try program.run("search", "a", "--member", "Nobody", expecting: 6)
  }

  @Test func aFolderAboveStandsForOneOfTheWords() throws {
    #expect(try paths("emma penicillin") == [visit] && paths("notes sore") == [visit])
    #expect(try paths("liam penicillin") == [])
    // By itself it finds the folder, not all that is in it.
    #expect(try paths("notes") == ["Emma/Notes"])
  }

  @Test func attachedTextAndTablesAreReadAndOtherFilesByName() throws {
    let table = program.folder.appending("values.csv").string
    try program.write(
      [0x45, 0x69, 0x73, 0x65, 0x6E, 0x3B, 0x67, 0x72, 0xF6, 0xDF, 0x65], to: table)
    let scan = program.folder.appending("Röntgen.jpg").string
    try program.write("lumbago", to: scan)
    try program.run("attach", visit, table, scan, expecting: 0)
    let found = try rows("größe")
    #expect(found.map(\.path) == ["\(visit)/values.csv"])
    #expect(found.first?.foundIn == "content" && found.first?.excerpt == "Eisen;größe")
    #expect(try paths("rontgen") == ["\(visit)/Röntgen.jpg"])
    #expect(try paths("lumbago") == [])
    // Words may be apart.
    #expect(try paths("eisen penicillin") == [visit])
  }

  // MARK: PDFs

  /// A PDF of this name with this text, outside the vault.
  private func pdf(_ name: String, _ text: String) throws -> String {
    let path = program.folder.appending(name).string
    try program.write(PDF.of([text]), to: path)
    return path
  }

  @Test func attachedPDFsAreFoundByTheirText() throws {
    let letter = try pdf("Letter.pdf", "Tetanus booster\nGr\u{F6}\u{DF}e 104 cm")
    try program.run("attach", visit, letter, expecting: 0)
    let found = try rows("größe booster")
    #expect(found.map(\.path) == ["\(visit)/Letter.pdf"])
    #expect(found.first?.foundIn == "content")
    #expect(found.first?.excerpt == "Tetanus booster Größe 104 cm")
    #expect(try paths("letter") == ["\(visit)/Letter.pdf"])
    let mountpoint = program.folder.appending("mnt").string
    try program.run("mount", mountpoint, expecting: 0)
    defer { _ = try? program.run("unmount", mountpoint) }
    // Larger than what stands in an item itself; under a name of capital letters.
    try program.write(
      PDF.of(Array(repeating: "Varicella", count: 60)), to: "\(mountpoint)/\(visit)/SCAN.PDF")
    #expect(try paths("varicella") == ["\(visit)/SCAN.PDF"])
    #expect(unlink("\(mountpoint)/\(visit)/SCAN.PDF") == 0)
    #expect(try paths("varicella") == [] && paths("booster") == ["\(visit)/Letter.pdf"])
  }

  /// How often a search opens a PDF, besides finding what it finds.
  private func openings(_ word: String) throws -> Int {
    let trace = program.folder.appending("trace").string
    let result = try CommandRunner.run(
      "strace",
      [
        "-f", "-qq", "-s", "200", "-e", "trace=execve", "-o", trace, Program.executable, "search",
        word,
      ], environment: desk.environment)
    #expect(result.status == 0, "\(result.errors)")
    return try String(decoding: program.read(trace), as: UTF8.self).split(separator: "\n")
      .count { $0.contains("kinvault-render-pdf\", [") && $0.hasSuffix(" = 0") }
  }

  @Test func aPDFIsOpenedOnceWhateverComesOfIt() throws {
    try program.write("%PDF-1.4 and no more", to: program.folder.appending("torn.pdf").string)
    try program.run(
      "attach", visit, pdf("Letter.pdf", "Tetanus"), program.folder.appending("torn.pdf").string,
      expecting: 0)
    #expect(try openings("tetanus") == 2)
    #expect(try openings("torn") == 0 && openings("tetanus") == 0)
    // A new revision of the record, an index that is made anew, and another name are no new content.
    try desk.replace("sore", by: "swollen", in: visit)
    #expect(try openings("tetanus") == 0 && paths("tetanus") == ["\(visit)/Letter.pdf"])
    #expect(try paths("torn") == ["\(visit)/torn.pdf"] && paths("swollen") == [visit])
    try program.run("derived", "clear", expecting: 0)
    #expect(try openings("tetanus") == 2)
  }

  @Test func whoIgnoresTheEndsOfProgramsFindsTheSame() throws {
    try program.run("attach", visit, pdf("Letter.pdf", "Tetanus"), expecting: 0)
    let result = try CommandRunner.run(
      "bash", ["-c", "trap '' CHLD; exec \"$0\" search tetanus", Program.executable],
      environment: desk.environment)
    #expect(result.output.contains("Letter.pdf"), "\(result.errors)")
  }

  @Test func withoutTheProgramEverythingElseIsFound() throws {
    try program.run("attach", visit, pdf("Letter.pdf", "Tetanus"), expecting: 0)
    let alone = program.folder.appending("kinvault").string
    try #require(
      CommandRunner.run("cp", [Program.executable, alone], environment: nil).status == 0)
    func run(_ arguments: String...) throws -> String {
      let result = try CommandRunner.run(alone, arguments, environment: desk.environment)
      #expect(result.status == 0, "\(result.errors)")
      return result.output
    }
    for _ in 0..<2 {
      #expect(try run("search", "tetanus") == "Nothing was found.\n")
      #expect(try run("search", "letter").contains("\(visit)/Letter.pdf"))
      #expect(try run("search", "sore").contains(visit))
    }
    #expect(try run("status").contains("PDFs are found by their names alone"))
    #expect(try !program.run("status", expecting: 0).output.contains("PDFs"))
    #expect(try paths("tetanus") == ["\(visit)/Letter.pdf"])
    // One that somebody else has put there is none.
    let link = program.folder.appending("kinvault-render-pdf").string
    #expect(symlink(try Program.executable + "-render-pdf", link) == 0)
    #expect(try run("status").contains("is not installed"))
    unlink(link)
    // One that cannot be run is none, and it is tried again.
    let broken = program.folder.appending("kinvault-render-pdf").string
    try program.write("#!/bin/sh\nexit 127\n", to: broken)
    #expect(chmod(broken, 0o700) == 0)
    try program.run("derived", "clear", expecting: 0)
    for _ in 0..<2 { #expect(try run("search", "tetanus") == "Nothing was found.\n") }
    #expect(try run("status").contains("cannot be run here"))
    #expect(try run("search", "letter").contains("\(visit)/Letter.pdf"))
    #expect(try paths("tetanus") == ["\(visit)/Letter.pdf"])
  }

  @Test func whateverChangesItIsFoundAsItIs() throws {
    #expect(try paths("sore") == [visit])
    try desk.replace("sore", by: "swollen", in: visit)
    #expect(try paths("sore") == [] && paths("swollen") == [visit])
    try program.run("restore", visit, "--revision", firstRevision(), "--yes", expecting: 0)
    #expect(try paths("sore") == [visit])
    let mountpoint = program.folder.appending("mnt").string
    try program.run("mount", mountpoint, expecting: 0)
    defer { _ = try? program.run("unmount", mountpoint) }
    // At once, without waiting for the mount's own commit.
    try program.write("Ear infection", to: "\(mountpoint)/\(visit)/ear.txt")
    #expect(try paths("infection") == ["\(visit)/ear.txt"])
    let folder = "\(mountpoint)/Emma/Visits"
    #expect(mkdir(folder, 0o700) == 0)
    #expect(rename("\(mountpoint)/\(visit)", "\(folder)/Moved") == 0)
    #expect(try paths("infection") == ["Emma/Visits/Moved/ear.txt"])
    #expect(try paths("visits sore") == ["Emma/Visits/Moved"] && paths("notes sore") == [])
    #expect(rename(folder, "\(mountpoint)/Emma/Doctors") == 0)
    #expect(try paths("doctors sore") == ["Emma/Doctors/Moved"])
    #expect(unlink("\(mountpoint)/Emma/Doctors/Moved/ear.txt") == 0)
    #expect(try paths("infection") == [])
    #expect(unlink("\(mountpoint)/Emma/Doctors/Moved/record.md") == 0)
    #expect(rmdir("\(mountpoint)/Emma/Doctors/Moved") == 0)
    #expect(try paths("sore") == [])
    try program.run("restore", "Emma/Doctors/Moved", expecting: 0)
    #expect(try paths("moved") == ["Emma/Doctors/Moved"])
    try program.run("member", "rename", "Emma", "Emily", expecting: 0)
    #expect(try paths("moved") == ["Emily/Doctors/Moved"])
  }

  private func firstRevision() throws -> String {
    let lines = try program.run("history", visit, expecting: 0).output.split(separator: "\n")
    return String(try #require(lines.last?.split(separator: " ").first))
  }

  @Test func theListOfRecordsFindsTextAsTheSearchDoes() throws {
    func list(_ text: String) throws -> Bool {
      try program.run("record", "list", "--text", text, expecting: 0).output.contains(visit)
    }
    #expect(try list("penic") && list("sore arm") && list("notes/2025") && list("VISIT"))
    #expect(try !list("lumbago"))
    let mountpoint = program.folder.appending("mnt").string
    try program.run("mount", mountpoint, expecting: 0)
    defer { _ = try? program.run("unmount", mountpoint) }
    #expect(unlink("\(mountpoint)/\(visit)/record.md") == 0)
    #expect(rmdir("\(mountpoint)/\(visit)") == 0)
    #expect(try !list("penicillin"))
    let deleted = try program.run("record", "list", "--deleted", "--text", "visit", expecting: 0)
    #expect(deleted.output.contains(visit))
  }

  @Test func theLogSaysThatWasSearchedAndNotForWhat() throws {
    #expect(try paths("sore") == [visit])
    _ = try rows("lumbago", "--member", "Emma")
    let log = try program.run("audit", "--action", "search", "--json", expecting: 0).output
    #expect(!log.contains("sore") && !log.contains("lumbago") && !log.contains("Visit"))
    #expect(log.contains("\"Emma\""))
  }

  // MARK: What lies on the disk

  private var state: String { desk.environment["XDG_STATE_HOME"] ?? "" }

  private func derived() throws -> [String] {
    let found = try CommandRunner.run(
      "find", [state, "-path", "*/derived/*", "-type", "f"], environment: desk.environment)
    return found.output.split(separator: "\n").map(String.init)
  }

  @Test func nothingReadableIsLeftOnTheDisk() throws {
    let table = program.folder.appending("Quillwort.csv").string
    try program.write("Zaffre;12", to: table)
    try program.run(
      "attach", visit, table, pdf("Woodruff.pdf", "Xanthic letters"), expecting: 0)
    let mountpoint = program.folder.appending("mnt").string
    try program.run("mount", mountpoint, expecting: 0)
    defer { _ = try? program.run("unmount", mountpoint) }
    try program.write("Brimstone", to: "\(mountpoint)/Emma/brimstone.txt")
    for word in ["sore", "zaffre", "brimstone", "quillwort", "xanthic", "woodruff"] {
      #expect(try paths(word).count == 1)
    }
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(try derived().count >= 2)
    unlink(table)
    unlink(program.folder.appending("Woodruff.pdf").string)
    for word in [
      "sore", "penicillin", "zaffre", "brimstone", "quillwort", "xanthic", "woodruff", "emma",
      "fts5",
    ] {
      let found = try CommandRunner.run(
        "grep", ["-rlai", word, state, program.vault], environment: desk.environment)
      #expect(found.output == "", "\(word)")
      let names = try CommandRunner.run(
        "find", [state, program.vault, "-iname", "*\(word)*"], environment: desk.environment)
      #expect(names.output == "", "\(word)")
    }
  }

  @Test func sqliteOpensNoFile() throws {
    _ = try paths("sore")
    let trace = program.folder.appending("trace").string
    let result = try CommandRunner.run(
      "strace",
      [
        "-f", "-qq", "-e", "trace=openat,open,creat,memfd_create", "-o", trace, Program.executable,
        "search", "penic", "sore",
      ], environment: desk.environment)
    #expect(result.status == 0, "\(result.errors)")
    let written = try String(decoding: program.read(trace), as: UTF8.self).split(separator: "\n")
      .filter { $0.contains("O_RDWR") || $0.contains("O_CREAT") || $0.contains("O_TMPFILE") }
    #expect(!written.isEmpty, "nothing was traced")
    for line in written {
      #expect(
        line.contains(state) || line.contains("\", O_") && !line.contains("etilqs"), "\(line)")
      #expect(!line.contains("/tmp/etilqs") && !line.contains("/var/tmp"), "\(line)")
    }
  }

  @Test func whatIsKeptIsShownAndRemovedAndMadeAgain() throws {
    #expect(try paths("sore") == [visit])
    try program.run("unlock", expecting: 0)
    defer { _ = try? program.run("lock") }
    let before = try derived()
    #expect(before.count == 2, "an index for each member")
    #expect(try program.run("status", expecting: 0).output.contains("kinvault derived clear"))
    let cleared = try program.run("derived", "clear", expecting: 0).output
    #expect(cleared.hasPrefix("Removed "))
    #expect(try derived() == [])
    #expect(try program.run("derived", "clear", expecting: 0).output.hasPrefix("There was nothing"))
    #expect(try !program.run("status", expecting: 0).output.contains("Derived"))
    #expect(try paths("sore") == [visit])
    // The same things stand under the same names.
    #expect(try Set(derived()) == Set(before))
    for path in before { try program.write("garbage", to: path) }
    #expect(try paths("sore") == [visit])
  }

  @Test func aDamagedRecordIsFoundByItsTitleAndAgainByAllWhenItIsMended() throws {
    try desk.write(String(repeating: "Ear infection. ", count: 500), titled: "Ear")
    #expect(try paths("infection") == ["Emma/Notes/2025-01-20 Ear"])
    let large = try CommandRunner.run(
      "find", [program.vault, "-path", "*/objects/*", "-size", "+6k"],
      environment: desk.environment)
    let chunk = try #require(large.output.split(separator: "\n").map(String.init).first)
    let whole = try program.read(chunk)
    try program.run("derived", "clear", expecting: 0)
    try program.write(Array(whole.dropLast(100)), to: chunk)
    for _ in 0..<3 {
      #expect(try paths("infection") == [] && paths("ear") == ["Emma/Notes/2025-01-20 Ear"])
    }
    #expect(try paths("penicillin") == [visit])
    try program.write(whole, to: chunk)
    #expect(try paths("infection") == ["Emma/Notes/2025-01-20 Ear"])
  }

  @Test func severalSearchesAtOnceFindTheSame() throws {
    let running = try (0..<4).map { _ in try desk.start("search", "penicillin") }
    for search in running {
      let result = search.wait()
      #expect(result.status == 0 && result.output.contains(visit), "\(result.errors)")
    }
    #expect(try paths("sore") == [visit])
  }
}

/// The same for what others change and take away.
@Suite struct SharedSearchTests {
  private func found(_ words: String, on machine: Machine) throws -> Bool {
    try machine.run("search", words, expecting: 0).output.contains("Emma/")
  }

  private func derived(of machine: Machine) throws -> String {
    try CommandRunner.run(
      "find", [machine.environment["XDG_STATE_HOME"] ?? "", "-path", "*/derived/*"],
      environment: machine.environment
    ).output
  }

  @Test func whatOthersWriteIsFoundAndNothingAfterAccessHasEnded() throws {
    let pair = try InvitedPair.sharing(as: "editor")
    try pair.anna.write("Arm sore", titled: "Injection")
    try pair.ben.write("Ear infection", titled: "Ear")
    let letter = pair.anna.program.folder.appending("Letter.pdf").string
    try pair.anna.program.write(PDF.of(["Tetanus"]), to: letter)
    try pair.anna.run("attach", "Emma/Notes/2025-01-20 Injection", letter, expecting: 0)
    #expect(try found("sore", on: pair.anna) && !found("sore", on: pair.ben))
    try pair.meet()
    #expect(try found("sore", on: pair.ben) && found("infection", on: pair.anna))
    #expect(try found("tetanus", on: pair.ben))
    #expect(try derived(of: pair.ben) != "")
    try pair.anna.run("unshare", "Emma", "--with", "Ben", expecting: 0)
    // What was found before is found by who goes on with it, under the new keys.
    #expect(try found("infection", on: pair.anna))
    try pair.meet()
    for word in ["sore", "infection", "tetanus", "emma"] { #expect(try !found(word, on: pair.ben)) }
    #expect(try derived(of: pair.ben) == "")
  }

  @Test func aPDFThatIsElsewhereIsFoundOnceItHasBeenHere() throws {
    let program = try Program.withVault()
    let (desk, laptop) = (Machine(first: program), Machine("laptop", beside: program))
    let usb = program.folder.appending("usb").string
    try desk.write("Arm sore", titled: "Visit")
    let letter = program.folder.appending("Letter.pdf").string
    // More than stands in a record itself.
    try program.write(PDF.of(Array(repeating: "Tetanus", count: 60)), to: letter)
    try desk.run("attach", "Emma/Notes/2025-01-20 Visit", letter, expecting: 0)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb, "--name", "usb", "--lazy")
    #expect(try !found("tetanus", on: laptop) && found("letter", on: laptop))
    try laptop.run("fetch", "Emma", expecting: 0)
    #expect(try found("tetanus", on: laptop))
    #expect(try laptop.run("evict", expecting: 0).output.hasPrefix("Removed "))
    #expect(try found("tetanus", on: laptop))
    try laptop.run("derived", "clear", expecting: 0)
    #expect(try !found("tetanus", on: laptop) && found("letter", on: laptop))
  }

  @Test func aRemovedDeviceKeepsNothing() throws {
    let program = try Program.withVault()
    let (desk, laptop) = (Machine(first: program), Machine("laptop", beside: program))
    let usb = program.folder.appending("usb").string
    try desk.write("Arm sore", titled: "Injection")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb, "--name", "usb")
    #expect(try found("sore", on: laptop))
    #expect(try derived(of: laptop) != "")
    try desk.run("sync", expecting: 0)
    try desk.run(
      "device", "revoke", "laptop", "--words-file", program.wordsFile, "--yes", expecting: 0)
    try desk.run("sync", expecting: 0)
    #expect(try laptop.run("sync").status != 0)
    #expect(try laptop.run("search", "sore").status != 0)
    #expect(try derived(of: laptop) == "")
    #expect(try found("sore", on: desk))
  }
}
