import Notes
import Testing

@Suite struct RecordTypeTests {
  @Test(arguments: ["lab result", "Lab-Result", "labresult", "LAB_RESULT", "Lab Results"])
  func readsATypeHoweverItIsWritten(_ text: String) {
    #expect(RecordType(parsing: text) == .labResult)
  }

  @Test func everyTypeIsReadBackAndHasAFolderOfItsOwn() {
    for type in RecordType.allCases { #expect(RecordType(parsing: type.rawValue) == type) }
    #expect(Set(RecordType.allCases.map(\.folder)).count == RecordType.allCases.count)
    #expect(RecordType(parsing: "") == nil)
  }

  @Test func aNewRecordParsesToWhatWasGiven() throws {
    let given = [
      (name: "lot", value: "0123"), (name: "site", value: "left: arm"),
      (name: "asked", value: "no"),
      (name: "text", value: "two\nlines"), (name: "price", value: "12.50"),
      (name: "tags", value: "child, school"), (name: "at", value: "a"), (name: "at", value: "b"),
      (name: "odd", value: "# [x"), (name: "empty", value: ""),
    ]
    let matter = FrontMatter(type: "vaccine", date: "2025-01-20", given: given)
    let document = RecordDocument(matter.document(text: "Text"))
    let parsed = try #require(try document.frontMatter())
    #expect(parsed == matter)
    #expect(parsed.type == "vaccine" && parsed.date == "2025-01-20")
    #expect(parsed["tags"] == .list([.text("child"), .text("school")]))
    #expect(parsed["at"] == .list([.text("a"), .text("b")]))
    #expect(String(decoding: document.text, as: UTF8.self) == "\nText\n")
    #expect(matter.yaml.contains("lot: '0123'\n") && matter.yaml.contains("price: 12.50\n"))
    #expect(matter.yaml.contains("date: 2025-01-20\n") && matter.yaml.contains("asked: 'no'\n"))
  }
}
