import SystemPackage
import TestSupport
import Testing

/// Whose a revision is, as two people see it who share one vault.
@Suite struct AuthorshipCommandTests {
  private let two: TwoPeople

  init() throws {
    two = try TwoPeople()
    try two.anna.run("share", "Emma", "--with", "Ben", "--role", "editor", expecting: 0)
  }

  /// The path of the one record whose title this is.
  private func path(of title: String) throws -> String {
    let listed = try two.anna.run("record", "list", "--json", expecting: 0).output
    return try #require(
      listed.split(separator: "\"").map(String.init).first {
        $0.hasSuffix(title) && $0.contains("/")
      })
  }

  @Test func whoSignedIsNamedWithTheirDevice() throws {
    try two.ben("record", "add", "--member", "Emma", "--title", "Wrist", expecting: 0)
    let wrist = try path(of: "Wrist")
    let shown = try two.anna.run("record", "show", wrist, expecting: 0).output
    #expect(shown.contains("signed by Ben"), "\(shown)")
    let json = try two.anna.run("record", "show", wrist, "--json", expecting: 0).output
    #expect(json.contains("\"authorship\" : \"signed\""), "\(json)")
    #expect(json.contains("\"personName\" : \"Ben\""), "\(json)")
    let history = try two.anna.run("history", wrist, expecting: 0).output
    #expect(history.contains("Ben"), "\(history)")
    let rows = try two.anna.run("history", wrist, "--json", expecting: 0).output
    #expect(rows.contains("\"authorship\" : \"signed\""), "\(rows)")
    #expect(rows.contains("\"personName\" : \"Ben\""), "\(rows)")
  }

  /// Both have changed the record on machines that had not met.
  @Test func aJoinSaysWhoseItsPartsAre() throws {
    try two.anna.run("record", "add", "--member", "Emma", "--title", "Wrist", expecting: 0)
    let wrist = try path(of: "Wrist")
    let folder = two.anna.folder
    let copy = folder.appending("a copy").string
    func shell(_ script: String) throws {
      let result = try CommandRunner.run("sh", ["-c", script, "copy", two.anna.vault, copy])
      try #require(result.status == 0, "\(result.errors)")
    }
    try shell("cp -a \"$1\" \"$2\"")
    let files = ["hers", "his"].map { folder.appending($0).string }
    for file in files { try two.anna.write("a scan in \(file)", to: file) }
    try two.anna.run("attach", wrist, files[0], expecting: 0)
    try two.ben("attach", "--vault", copy, wrist, files[1], expecting: 0)
    // What is older there than here stays.
    try shell("cp -a --update \"$2/.\" \"$1\"")
    let shown = try two.anna.run("record", "show", wrist, expecting: 0).output
    // Her own device has its name there.
    #expect(shown.contains("joined from what ") && shown.contains(" signed and what "), "\(shown)")
    #expect(shown.contains("Ben (") && shown.contains("hers") && shown.contains("his"), "\(shown)")
    for command in [["record", "show", wrist, "--json"], ["history", wrist, "--json"]] {
      let json = try two.anna.run(command).output
      #expect(json.contains("\"authorship\" : \"joined\""), "\(json)")
      let parts = try #require(json.firstRange(of: "joinedFrom"))
      for name in ["Adult A", "Ben"] {
        #expect(json[parts.lowerBound...].contains("\"personName\" : \"\(name)\""), "\(json)")
      }
    }
    let history = try two.anna.run("history", wrist, expecting: 0).output
    #expect(history.contains("joined") && history.contains("Ben"), "\(history)")
  }
}
