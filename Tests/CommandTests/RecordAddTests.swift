import TestSupport
import Testing

/// Which types `record add` takes, and where it puts what has them.
@Suite struct RecordAddTests {
  @Test func aRecordMayHaveATypeOfOnesOwn() throws {
    let program = try Program.withVault()
    func add(_ type: String, expecting status: Int32 = 0) throws -> CommandResult {
      try program.run(
        "record", "add", "--member", "Emma", "--type", type, "--title", "Football", "--date",
        "2025-05-01", expecting: status)
    }
    let own = try add(" Sports  exam ")
    #expect(own.output == "Added Emma/2025-05-01 Football\n")
    #expect(own.errors.contains("\u{201C}Sports exam\u{201D} is a type of your own"))
    let listed = try program.run("record", "list", "--type", "sports exam", expecting: 0).output
    #expect(listed.contains("Sports exam  Football"), "\(listed)")

    let known = try add("Lab-Results")
    #expect(known.output == "Added Emma/Lab Results/2025-05-01 Football\n")
    #expect(!known.errors.contains("type of your own"), "\(known.errors)")
    for type in ["", "  ", String(repeating: "x", count: 33)] {
      let refused = try add(type, expecting: 2)
      #expect(refused.errors.contains("A type has 1 to 32 bytes"), "\(refused.errors)")
    }
    let untitled = try program.run(
      "record", "add", "--member", "Emma", "--title", "  ", expecting: 2)
    #expect(untitled.errors.contains("A title of blanks is none"), "\(untitled.errors)")
  }
}
