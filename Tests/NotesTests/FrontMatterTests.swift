import Testing

@testable import Notes

@Suite struct FrontMatterTests {
  private func summary(_ text: String) -> FrontMatterSummary {
    FrontMatter.summary(of: Array(text.utf8))
  }

  private func parse(_ yaml: String) throws -> FrontMatter? {
    try RecordDocument(Array("---\n\(yaml)\n---\n".utf8)).frontMatter()
  }

  private func reason(_ yaml: String) -> FrontMatterError.Reason? {
    do throws(FrontMatterError) {
      _ = try RecordDocument(Array("---\n\(yaml)\n---\n".utf8)).frontMatter()
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func summarisesTypeAndDateAsWritten() {
    #expect(
      summary("---\ntype: vaccine\ndate: 2025-01-20\nlot: AB123\n---\nText\n")
        == FrontMatterSummary(type: "vaccine", date: "2025-01-20"))
    #expect(summary("---\r\ntype: 'lab result'\r\n---\r\n").type == "lab result")
    #expect(summary("\u{FEFF}---\ntype: note\n---").type == "note")
  }

  @Test(arguments: ["", "Only text", "# Title\n---\ntype: x\n---\n", "----\ntype: x\n---\n"])
  func textWithoutFrontMatterHasNoSummary(_ text: String) {
    #expect(summary(text) == FrontMatterSummary())
  }

  @Test(arguments: [
    "---\ntype: vaccine\n", "---\njust words\n---\n", "---\n- a\n- b\n---\n",
    "---\na: [1, 2\n---\n",
    "---\na: 1\na: 2\n---\n", "---\n\tkey: x\n---\n",
  ])
  func reportsFrontMatterThatDoesNotParse(_ text: String) {
    #expect(summary(text) == FrontMatterSummary(isUnreadable: true))
  }

  @Test func emptyFrontMatterIsReadable() throws {
    #expect(summary("---\n---\nText") == FrontMatterSummary())
    #expect(try parse("# nothing but a comment")?.fields == [])
  }

  @Test func leavesOverlongTypesOutOfTheSummary() {
    let long = String(repeating: "x", count: 33)
    #expect(summary("---\ntype: \(long)\ndate: 2025\n---\n") == FrontMatterSummary(date: "2025"))
  }

  @Test func keepsScalarsAsTheyAreWrittenAndFieldsInOrder() throws {
    let matter = try #require(
      try parse(
        "lot: 0123\ntags: [a, b]\nsite: \"left: arm\"\nresults:\n  - {name: Hb, value: 13.5}"))
    #expect(matter.fields.map(\.name) == ["lot", "tags", "site", "results"])
    #expect(matter["lot"] == .text("0123"))
    #expect(matter["site"] == .text("left: arm"))
    #expect(matter["tags"] == .list([.text("a"), .text("b")]))
    #expect(
      matter["results"]
        == .list([.map([.init("name", .text("Hb")), .init("value", .text("13.5"))])]))
  }

  @Test func namesTheLineOfTheDocument() {
    let document = RecordDocument(Array("---\ntype: a\ndate: 'open\n---\n".utf8))
    #expect(throws: FrontMatterError.self) { try document.frontMatter() }
    do throws(FrontMatterError) {
      _ = try RecordDocument(Array("---\ntype: a\nb: c: d\n---\n".utf8)).frontMatter()
      Issue.record("parsed")
    } catch {
      #expect(error.line == 3)
    }
  }

  @Test func namesTheLineOfAFieldThatStandsTwice() {
    do throws(FrontMatterError) {
      _ = try RecordDocument(Array("---\na: 1\nb:\n  c: 1\n  c: 2\n---\n".utf8)).frontMatter()
      Issue.record("parsed")
    } catch {
      #expect(error == FrontMatterError(.duplicateField, line: 5))
    }
  }

  @Test(arguments: ["a: 1\n...\nb: 1", "a: 1\n--- b"])
  func refusesASecondDocument(_ yaml: String) {
    #expect(reason(yaml) != nil)
  }

  @Test func refusesAliases() {
    #expect(reason("a: &x [1]\nb: *x") == .aliases)
    #expect(reason("\"a\":&x\n b: 1\nc: !!map *x") == .aliases)
    #expect(reason("- &x 1\n- {\"k\":*x}") == .aliases)
    #expect(reason("a: take *two* & call") == nil)
    #expect(reason("a: |\n  *bold* text &c") == nil)
  }

  @Test func refusesDeepNestingInAnyForm() {
    let deep = 20_000
    #expect(reason("a: " + String(repeating: "[", count: deep)) == .nestedTooDeeply)
    #expect(reason(String(repeating: "- ", count: deep) + "x") == .nestedTooDeeply)
    #expect(reason(String(repeating: "? ", count: deep) + "x") == .nestedTooDeeply)
    for lineBreak in ["\n", "\r", "\u{85}", "\u{2028}"] {
      let stairs = (0..<300).map { String(repeating: " ", count: $0) + "a:" }
      #expect(reason(stairs.joined(separator: lineBreak)) == .nestedTooDeeply)
    }
  }

  @Test func refusesFrontMatterBeyondTheLimit() {
    let long = String(repeating: "a", count: RecordDocument.frontMatterLimit)
    #expect(reason("k: \(long)") == .tooLong(byteCount: long.utf8.count + 4, limit: 65_536))
    let huge = [UInt8](repeating: UInt8(ascii: "-"), count: 16 << 20)
    #expect(FrontMatter.summary(of: huge) == FrontMatterSummary())
    #expect(FrontMatter.summary(of: Array("---\n".utf8) + huge).isUnreadable)
  }

  @Test func refusesInvalidUTF8() {
    let bytes = Array("---\ntype: ".utf8) + [0xFF, 0xFE] + Array("\n---\n".utf8)
    #expect(FrontMatter.summary(of: bytes).isUnreadable)
  }

  /// The deepest text that the bounds let through, on the smallest stack a thread may have.
  @Test func theDeepestAcceptedNestingFitsASmallStack() async {
    let stairs = (0..<60).map { String(repeating: " ", count: $0) + "a:" }
    let flow = String(repeating: "[", count: FrontMatterBounds.bracketLimit)
    let closed = flow + String(repeating: "]", count: FrontMatterBounds.bracketLimit)
    let text = "---\n" + stairs.joined(separator: "\n") + " " + closed + "\n---\n"
    let result = onSmallStack { FrontMatter.summary(of: Array(text.utf8)) }
    #expect(result == FrontMatterSummary())
  }

  /// What is written is read again as it was, whatever text stands in it.
  @Test func writtenFieldsAreReadAgain() throws {
    let texts = [
      "", " ", "no", "0123", "- a", "# b", "a: b", "a #b", "'", "\"", "[x", "{", "&a", "*a", "!t",
      "|", ">", "%", "@", "`", "\t", "a\n", "a\n\n  b\n", "\na", "é\u{1F600}", "\u{85}\u{2028}",
      "\0\u{7}",
      "a\r\nb", "\u{FEFF}", "---", "...", "? x", "2025-01-20",
      "x" + String(repeating: " y", count: 200),
    ]
    var fields = texts.filter { !$0.isEmpty }.map { FrontMatter.Field($0, .text("v")) }
    fields += texts.enumerated().map { FrontMatter.Field("k\($0)", .text($1)) }
    fields.append(.init("list", .list(texts.map { .text($0) })))
    fields.append(
      .init(
        "nested", .list([.map([.init("a", .list([])), .init("b", .list([.list([.text("c")])]))])])))
    let matter = FrontMatter(fields: fields)
    let again = try FrontMatter(parsing: Array(matter.yaml.utf8)[...], firstLine: 1)
    for (field, read) in zip(matter.fields, again.fields) { #expect(field == read) }
    #expect(again.fields.count == fields.count)
  }

  @Test func neverTrapsOnMutatedInput() {
    let seed = UInt64.random(in: .min ... .max)
    print("front matter seed: \(seed)")
    var generator = SplitMix(state: seed)
    let alphabet =
      Array("-?:,[]{}&*!|>'\"%@` \n\r\tab0\\#~.".utf8) + [0xC2, 0x85, 0xE2, 0x80, 0xA8]
    for _ in 0..<3_000 {
      let count = Int.random(in: 0..<80, using: &generator)
      let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator)! }
      _ = FrontMatter.summary(of: Array("---\n".utf8) + bytes + Array("\n---\n".utf8))
    }
  }
}

/// A small generator that can be started from a printed seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
