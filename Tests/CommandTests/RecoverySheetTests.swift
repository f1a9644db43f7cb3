import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import kinvault

/// The page for the 24 words.
@Suite struct RecoverySheetTests {
  private func words(of program: Program) throws -> [String] {
    try String(decoding: program.read(program.wordsFile), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  @Test func hasBlanksAndNoWordAndAsksForNothing() throws {
    let program = try Program.withVault()
    try program.run("lock", expecting: 0)
    let result = try program.run(
      "recovery", "sheet", environment: ["KINVAULT_PASSWORD_FILE": nil], expecting: 0)
    #expect(result.output.hasPrefix("<!DOCTYPE html>") && result.output.hasSuffix("</html>\n"))
    #expect(result.output.contains(program.vault))
    #expect(result.output.ranges(of: "<li><span></span></li>").count == 24)
    // A word may be one of the page's own, so not each by itself.
    let pairs = try words(of: program).map { "<b><bdi>\($0)</bdi></b>" }
    #expect(!pairs.contains { result.output.contains($0) })
  }

  @Test func hasTheWordsInTheirOrderWhenTheyAreGiven() throws {
    let program = try Program.withVault()
    let page = program.folder.appending("sheet.html").string
    try program.run(
      "recovery", "sheet", "--with-words", "--words-file", program.wordsFile, "--out", page,
      expecting: 0)
    let text = String(decoding: try program.read(page), as: UTF8.self)
    let found = text.ranges(of: "<li><b><bdi>").map { range in
      String(text[range.upperBound...].prefix { $0 != "<" })
    }
    #expect(try found == words(of: program))
    var status = stat()
    #expect(lstat(page, &status) == 0 && status.st_mode & 0o777 == 0o600)
    // Nothing is written over.
    try program.run("recovery", "sheet", "--out", page, expecting: 11)
  }

  @Test func wordsThatDoNotOpenTheVaultLeaveNoPage() throws {
    let program = try Program.withVault()
    let other = try Program.withAnotherVault()
    let page = program.folder.appending("sheet.html").string
    try program.run(
      "recovery", "sheet", "--with-words", "--words-file", other.wordsFile, "--out", page,
      expecting: 3)
    #expect(throws: (any Error).self) { try program.read(page) }
  }

  @Test func wordsGoIntoAFileOnly() throws {
    let program = try Program.withVault()
    try program.run(
      "recovery", "sheet", "--with-words", "--words-file", program.wordsFile, expecting: 2)
    try program.run("recovery", "sheet", "--words-file", program.wordsFile, expecting: 2)
  }

  @Test func nothingInANameIsMarkup() {
    let sheet = RecoverySheet(
      folder: "/home/<b>&\"'/\u{202E}x", machine: "<script>", vault: "00",
      remotes: (0..<9).map {
        .init(name: "r\($0)", address: String(repeating: "é", count: 9_999))
      }, date: "2026-11-24", words: [])
    let html = sheet.html
    #expect(html.contains("/home/&lt;b&gt;&amp;&quot;'/\\u{202e}x"))
    #expect(!html.contains("<script>") && html.contains("and 6 more"))
    #expect(html.utf8.count < 20_000)
  }
}
