import SystemPackage
import TestSupport
import Testing

/// A vault of a version of the format that this program does not know: it says which one, and what to do.
@Suite struct FormatVersionTests {
  private let program: Program
  private let text: String
  private var description: String { program.vault + "/vault.json" }

  init() throws {
    program = try Program.withVault()
    text = String(decoding: try program.read(program.vault + "/vault.json"), as: UTF8.self)
    try #require(text.contains("\"version\": 2"))
  }

  private func become(_ version: Int) throws {
    try program.write(
      text.replacing("\"version\": 2", with: "\"version\": \(version)"), to: description)
  }

  @Test(arguments: [
    (1, "Nothing that was released has written it"),
    (3, "A newer version of Kinvault can open it."),
  ])
  func isRefused(version: Int, hint: String) throws {
    try become(version)
    for command in [["record", "list"], ["check"], ["unlock"], ["member", "add", "Liam"]] {
      let refused = try program.run(command)
      #expect(refused.status == 12, "\(command): \(refused.output)\(refused.errors)")
      let said = "This is a vault of format version \(version), and this program knows 2. \(hint)"
      #expect(refused.errors.contains(said), "\(command): \(refused.errors)")
    }
    try program.write(text, to: description)
    #expect(try program.run("member", "list", expecting: 0).output.contains("Emma"))
  }

  @Test func theProgramSaysWhichVersionItWrites() throws {
    #expect(try program.run("version", expecting: 0).output.contains(", vault format 2\n"))
    #expect(try program.run("version", "--json", expecting: 0).output.contains("\"format\" : 2"))
  }

  @Test func isNotClonedEither() throws {
    try become(1)
    let refused = try program.run(
      "clone", program.vault, program.folder.appending("copy").string, "--words-file",
      program.wordsFile, expecting: 10)
    #expect(
      refused.errors.contains("this is a vault of format version 1, and this program knows 2"),
      "\(refused.errors)")
  }
}
