import Notes
import Testing

/// Notes changed line by line, and the dates that stand in them.
@Suite struct RecordDocumentTests {
  private static let note = """
    ---
    type: vaccine   # as on the card
    date: 2025-01-20
    lot: 'AB123'
    dose: |
      two
      lines
    # the doctor's handwriting
    tags: [school, travel]
    ---

    Sore arm.

    """

  private func fields(_ document: RecordDocument) throws -> [FrontMatter.Field] {
    try #require(try document.frontMatter()).fields
  }

  @Test(arguments: [
    ("20.1.2025", "2025-01-20"), ("01.02.2025", "2025-02-01"), ("1.2025", "2025-01"),
    ("31.2.2025", "31.2.2025"), ("1.2.25", "1.2.25"), ("2025-01-20", "2025-01-20"),
    ("1.2.3.2025", "1.2.3.2025"), ("a.2025", "a.2025"), (".2025", ".2025"), ("2025", "2025"),
    ("2025-1-2", "2025-01-02"), ("2025-2-30", "2025-2-30"), ("2025.1.2", "2025.1.2"),
    ("3. 5. 2024", "2024-05-03"), ("5. 2024", "2024-05"), ("3 .5.2024", "3 .5.2024"),
    ("3. 5. ", "3. 5. "), ("3.\u{A0}5.\u{A0}2024", "2024-05-03"),
  ])
  func aDateIsReadAsItIsTyped(text: String, date: String) {
    #expect(RecordDate.reading(text) == date)
  }

  /// Nothing that is one day here and another one in another country.
  @Test(
    arguments: [
      ("2025-01-20", "2025-01-20"), ("2025-01", "2025-01"), ("2025", "2025"),
      ("20.01.2025", "2025-01-20"), ("1.2.2025", "2025-02-01"), ("1.2025", "2025-01"),
      ("2025-1-2", "2025-01-02"), ("2025-01-20 14:30", "2025-01-20"),
      ("2025-01-20T14:30:00Z", "2025-01-20"), ("20.1.2025 14:30", "2025-01-20"),
      ("20.1.2025 (Dr. Weber)", "2025-01-20"), ("32.13.2025", nil), ("29.2.2025", nil),
      ("2025-02-30", nil), ("20/01/2025", nil), ("1/2/2025", nil), ("1.2.25", nil),
      ("15. Januar 2025", nil), ("2025 spring", nil), ("Tuesday", nil), ("T", nil), ("", nil),
      ("0.0.0000", nil),
      ("20.1.2025-25.1.2025", "2025-01-20"), ("20.1.2025 – 25.1.2025", "2025-01-20"),
      ("3. 5. 2024", "2024-05-03"), ("3. 5. 2024 14:30", "2024-05-03"), ("5. 2024", "2024-05"),
      ("3. 5. 2024–7. 5. 2024", "2024-05-03"), ("3.5.2024-", "2024-05-03"),
      ("2025-01-20 Dr. Weber", "2025-01-20"), ("2025-01-20–2025-01-25", "2025-01-20"),
      ("3.-5. 2024", nil), ("3. 5. 24", nil), ("1. 2. 3. 2024", nil), ("3. Mai 2024", nil),
    ] as [(String, String?)])
  func theDateOfARecordIsReadWhereItIsOne(text: String, date: String?) {
    #expect(RecordDate.read(text) == date)
  }

  @Test func whatNobodyChangesStaysToTheByte() throws {
    let document = RecordDocument(Array(Self.note.utf8))
    let all = try fields(document)
    #expect(document.replacing(fields: all, text: nil) == document.bytes)
    #expect(document.replacing(fields: nil, text: nil) == document.bytes)
    let text = String(decoding: document.replacing(fields: nil, text: "No fever."), as: UTF8.self)
    #expect(text == Self.note.replacing("Sore arm.", with: "No fever."))
  }

  @Test func aFieldIsChangedOnItsLineAndCommentsStay() throws {
    let document = RecordDocument(Array(Self.note.utf8))
    var all = try fields(document)
    let lot = try #require(all.firstIndex { $0.name == "lot" })
    all[lot].value = .text("CD: 4")
    all.append(FrontMatter.Field("site", .text("left arm")))
    let changed = RecordDocument(document.replacing(fields: all, text: nil))
    #expect(try fields(changed) == all)
    let text = String(decoding: changed.bytes, as: UTF8.self)
    #expect(text.contains("# as on the card") && text.contains("# the doctor's handwriting"))
    #expect(text.hasSuffix("---\n\nSore arm.\n"))
  }

  @Test func theCommentBehindAFieldThatIsChangedStays() throws {
    let document = RecordDocument(Array(Self.note.utf8))
    var all = try fields(document)
    let type = try #require(all.firstIndex { $0.name == "type" })
    all[type].value = .text("visit")
    let text = String(decoding: document.replacing(fields: all, text: nil), as: UTF8.self)
    #expect(text == Self.note.replacing("type: vaccine   #", with: "type: visit   #"))
  }

  @Test(arguments: ["'a # b'", "\"a # b\"", "a#b"])
  func whatIsNoCommentIsNotKept(old: String) throws {
    for comment in ["", " # told by phone"] {
      let document = RecordDocument(Array("---\nreason: \(old)\(comment)\n---\n".utf8))
      let new = [FrontMatter.Field("reason", .text("c"))]
      let text = String(decoding: document.replacing(fields: new, text: nil), as: UTF8.self)
      #expect(text == "---\nreason: c\(comment)\n---\n")
    }
  }

  @Test func aFieldOfSeveralLinesIsChangedInTheirPlace() throws {
    let document = RecordDocument(Array(Self.note.utf8))
    var all = try fields(document)
    let dose = try #require(all.firstIndex { $0.name == "dose" })
    all[dose].value = .text("one")
    let text = String(decoding: document.replacing(fields: all, text: nil), as: UTF8.self)
    #expect(text == Self.note.replacing("dose: |\n  two\n  lines\n", with: "dose: one\n"))
  }

  @Test func aListOfLinesIsChangedAndWhatIsAroundItStays() throws {
    let note = "---\n# of the card\ntags:\n- school\n- travel\n\n# of the form\nlot: '4'\n---\n"
    let document = RecordDocument(Array(note.utf8))
    let all = [
      FrontMatter.Field("tags", .list([.text("school")])), FrontMatter.Field("lot", .text("4")),
    ]
    let changed = document.replacing(fields: all, text: nil)
    #expect(try fields(RecordDocument(changed)) == all)
    let text = String(decoding: changed, as: UTF8.self)
    #expect(text.hasPrefix("---\n# of the card\ntags:"), "\(text)")
    #expect(text.hasSuffix("\n\n# of the form\nlot: '4'\n---\n"), "\(text)")
  }

  /// What has no lines of its own cannot be changed on them: all are written anew, and say what is wanted.
  @Test func whatHasNoLinesOfItsOwnIsWrittenAnew() throws {
    let document = RecordDocument(Array("---\n{type: visit, lot: '4'}\n---\n".utf8))
    var all = try fields(document)
    all[1].value = .text("5")
    #expect(try fields(RecordDocument(document.replacing(fields: all, text: nil))) == all)
  }

  @Test(arguments: ["", "text only", "---\nnever closed", "\u{FEFF}---\ntype: note\n---\n"])
  func anyNoteTakesFieldsAndText(note: String) throws {
    let document = RecordDocument(Array(note.utf8))
    let wanted = [
      FrontMatter.Field("type", .text("note")), FrontMatter.Field("odd: name", .text("- # ' \"")),
    ]
    let changed = RecordDocument(document.replacing(fields: wanted, text: "New.\nLines."))
    #expect(try fields(changed) == wanted)
    #expect(String(decoding: changed.text, as: UTF8.self) == "\nNew.\nLines.\n")
    // What stood there is still there where only fields are given.
    guard case .plain = document.layout, !note.isEmpty else { return }
    let kept = RecordDocument(document.replacing(fields: wanted, text: nil))
    #expect(String(decoding: kept.text, as: UTF8.self).contains(note))
  }

  @Test(arguments: [
    ("2025-01-20", true), ("2025-01", true), ("2025", true), ("2024-02-29", true),
    ("2025-02-29", false), ("2025-13", false), ("25-01-01", false), ("2025-1-1", false),
    ("0000", false), ("0000-01-20", false), ("0001", true), ("", false), ("2025-01-20 ", false),
    ("٢٠٢٥", false), ("2025-01-20-01", false),
  ])
  func datesAreThoseThatThereAre(text: String, isDate: Bool) {
    #expect(RecordDate.isWritten(text) == isDate)
  }
}
