import Glibc
import SystemPackage
import TestSupport
import Testing

/// What `record list` says where it lists nothing, and how it goes by dates.
@Suite struct RecordListTests {
  @Test func foldersWithoutATypeAreHintedAt() throws {
    let program = try Program.withVault()
    func list(_ options: String...) throws -> String {
      try program.run(["record", "list"] + options).output
    }
    #expect(try list() == "No records to show.\n")
    try program.run("attach", "Emma", program.writeFolder("Letters", "a.txt"), expecting: 0)
    let one = try list()
    #expect(one.contains("There is a folder without type and date: kinvault record list --all"))
    #expect(try list("--all").contains("Letters"))
    // Where that would not show them either, nothing is said of it.
    #expect(try list("--type", "vaccine") == "No records to show.\n")
    #expect(try list("--since", "2024") == "No records to show.\n")
    #expect(try list("--deleted") == "No records to show.\n")
    #expect(try !list("--json").contains("--all"))
    try program.run("attach", "Emma", program.writeFolder("Photos", "b.txt"), expecting: 0)
    #expect(try list().contains("There are 2 folders without type and date"))
    try program.run(
      "record", "add", "--member", "Emma", "--type", "note", "--title", "Visit", expecting: 0)
    #expect(try !list().contains("--all"))
  }

  /// They were compared as texts, so that 20 January 2025 was before 2024, and a day that there is not was after 2026.
  @Test func datesInNotesAreReadAndThoseThatCannotBeCountAsNone() throws {
    let program = try Program.withVault()
    for (title, date) in [
      ("Grippe", "20.01.2025"), ("Zahnarzt", "32.13.2025"), ("Polio", "2023-05-01"),
    ] {
      try program.run(
        "record", "add", "--member", "Emma", "--type", "note", "--title", title, "--field",
        "date=\(date)", expecting: 0)
    }
    let listed = try program.run("record", "list", expecting: 0)
    let dates = listed.output.split(separator: "\n").dropFirst().compactMap(\.cells.first)
    #expect(dates == ["2025-01-20", "2023-05-01", "32.13.2025 ?"], "\(listed.output)")
    #expect(listed.errors.contains("Some dates cannot be read"), "\(listed.errors)")
    for command in [["record", "list"], ["search", "note"]] {
      let since = try program.run(command + ["--since", "2024"])
      let until = try program.run(command + ["--until", "2024"])
      #expect(since.status == 0 && until.status == 0)
      #expect(since.output.contains("Grippe") && !since.output.contains("Zahnarzt"))
      #expect(until.output.contains("Polio") && !until.output.contains("Grippe"))
      #expect(!until.output.contains("Zahnarzt") && !since.output.contains("Polio"))
      for found in [since, until] {
        #expect(found.errors.contains("Some dates cannot be read"), "\(command): \(found.errors)")
      }
    }
    let json = try program.run("record", "list", "--json", expecting: 0).output
    #expect(json.contains("\"date\" : \"2025-01-20\"") && json.contains("\"32.13.2025\""))
    #expect(json.split(separator: "\n").count { $0.contains("\"unreadableDate\" : true") } == 1)
    let check = try program.run("check", expecting: 0).output
    #expect(check.contains("Zahnarzt/record.md") && check.contains("its date cannot be read"))
    #expect(!check.contains("Grippe/record.md"), "\(check)")
    // The note is as it was written.
    let path = try #require(
      json.split(separator: "\"").map(String.init).first {
        $0.contains("/") && $0.hasSuffix("Grippe")
      })
    let shown = try program.run("record", "show", path, expecting: 0).output
    #expect(shown.contains("20.01.2025"), "\(shown)")
  }

  /// There was nothing to show, as if there were no such records.
  @Test func aTimeThatEndsBeforeItBeginsIsRefused() throws {
    let program = try Program.withVault()
    for command in [["record", "list"], ["search", "note"]] {
      for (since, until, status) in [
        ("2025", "2024", 2), ("2024-06", "1.5.2024", 2), ("2024-06", "2024", 0),
        ("2024", "2024-01", 0), ("2024-05-01", "1.5.2024", 0),
      ] as [(String, String, Int32)] {
        let found = try program.run(command + ["--since", since, "--until", until])
        #expect(found.status == status, "\(since) \(until): \(found.errors)")
      }
    }
  }

  /// It was said behind each of them.
  @Test func aCheckSaysOnceHowADateIsWritten() throws {
    let program = try Program.withVault()
    for (title, date) in [("Zahnarzt", "32.13.2025"), ("Ohr", "1/2/2025")] {
      try program.run(
        "record", "add", "--member", "Emma", "--type", "note", "--title", title, "--field",
        "date=\(date)", expecting: 0)
    }
    let lines = try program.run("check", expecting: 0).output.split(separator: "\n")
    let saying = lines.indices.filter { lines[$0].contains("its date cannot be read") }
    try #require(saying.count == 1 && saying[0] > 2, "\(lines)")
    #expect(lines[saying[0]].contains("each: "), "\(lines)")
    #expect(lines[saying[0] - 2].hasSuffix("Ohr/record.md"), "\(lines)")
    #expect(lines[saying[0] - 1].hasSuffix("Zahnarzt/record.md"), "\(lines)")
  }
}

extension Program {
  /// A new plain folder with a file in it.
  fileprivate func writeFolder(_ name: String, _ file: String) throws -> String {
    let path = folder.appending(name).string
    try #require(mkdir(path, 0o700) == 0)
    try write("text", to: "\(path)/\(file)")
    return path
  }
}
