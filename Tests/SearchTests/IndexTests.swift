import Testing
import VaultCrypto
import VaultModel

@testable import Search

/// The index in memory, what it is kept as, and the few words that are shown.
@Suite struct IndexTests {
  private let cutter: WordCutter

  init() throws { cutter = try WordCutter() }

  private func text(_ title: String, note: String = "", fields: String = "") -> RecordText {
    var text = RecordText(title: title)
    (text.note, text.fields) = (note, fields)
    return text
  }

  private func file(_ name: String, _ content: String) throws -> RecordText.File {
    RecordText.File(name: try #require(FileName(name)), content: content)
  }

  @Test func anImageAnswersAsItsIndexAndTakesMore() throws {
    let index = try TextIndex()
    try index.add((1...500).map { ($0, text("record \($0)", note: "word\($0 % 7) common")) })
    try index.optimize()
    let image = try index.image()
    let copy = try image.withUnsafeBytes { try TextIndex(image: $0) }
    for expression in ["\"word3\"", "\"common\"", "\"record 12\"", "\"wor\" *"] {
      #expect(try copy.rows(matching: expression) == index.rows(matching: expression))
    }
    try copy.add((501...900).map { ($0, text("record \($0)", note: "later")) })
    #expect(try copy.rows(matching: "\"later\"").count == 400)
    #expect(try index.rows(matching: "\"later\"").isEmpty)
    #expect(try copy.vocabulary().count > index.vocabulary().count)
  }

  @Test func whatIsNoImageIsRefused() throws {
    for bytes in [[], [1, 2, 3], [UInt8](repeating: 0, count: 8192)] {
      #expect(throws: SearchError.self) {
        _ = try bytes.withUnsafeBytes { try TextIndex(image: $0) }
      }
    }
  }

  @Test func anIndexKeepsItsRowsAndWhatTheyLack() throws {
    let rows = (0..<50).map { _ in IndexStorage.Row(record: .random(), revision: .random()) }
    let storage = IndexStorage(
      mark: .random(), rows: rows, lacking: [3: .random(), 40: .random()],
      vocabulary: Vocabulary(Array("one\ntwo\n".utf8)))
    let image = [UInt8]((0...255).map { $0 })
    let bytes = storage.encoded(by: .withPDF, image: image)
    let found = try #require(
      try IndexStorage.decode(bytes, by: .withPDF) { (storage, image) throws(SearchError) in
        (storage, Array(image))
      })
    #expect(found.0.mark == storage.mark && found.0.rows == rows)
    #expect(found.0.lacking == storage.lacking)
    #expect(found.0.vocabulary.bytes == storage.vocabulary.bytes && found.1 == image)
    // However it is cut, it is refused, and nothing is read beyond its end.
    for end in 0..<bytes.count {
      let cut = Array(bytes[..<end])
      #expect(
        try IndexStorage.decode(cut, by: .withPDF) { (_, _) throws(SearchError) in true } == nil,
        "\(end)")
    }
  }

  @Test func aJournalIsOfOneIndexOnly() throws {
    var record = text("Visit", note: "Arm sore", fields: "type: visit")
    record.files = [try file("scan.pdf", ""), try file("values.csv", "iron;12")]
    let additions = [
      IndexStorage.Addition(
        row: IndexStorage.Row(record: .random(), revision: .random()), lacking: .random(),
        text: record),
      IndexStorage.Addition(
        row: IndexStorage.Row(record: .random(), revision: .random()), lacking: nil,
        text: text("")),
    ]
    let mark = RecordID.random()
    let bytes = IndexStorage.encodeJournal(of: mark, additions)
    let found = try #require(IndexStorage.decodeJournal(bytes, of: mark))
    #expect(found.map(\.row) == additions.map(\.row))
    #expect(found.map(\.lacking) == additions.map(\.lacking))
    #expect(found.map(\.text.texts) == additions.map(\.text.texts))
    #expect(found[0].text.files.map(\.name) == record.files.map(\.name))
    #expect(IndexStorage.decodeJournal(bytes, of: .random()) == nil)
    for end in 0..<bytes.count {
      #expect(IndexStorage.decodeJournal(Array(bytes[..<end]), of: mark) == nil)
    }
  }

  @Test func tablesOfLaboratoriesAreReadInTheirEncodings() {
    #expect(AttachedText.decode(Array("Größe;12".utf8)) == "Größe;12")
    #expect(AttachedText.decode([0x47, 0x72, 0xF6, 0xDF, 0x65, 0x20, 0x80]) == "Größe €")
    #expect(AttachedText.decode([0xFF, 0xFE, 0x47, 0, 0xF6, 0]) == "Gö")
    #expect(AttachedText.decode([0xFE, 0xFF, 0, 0x47, 0, 0xF6]) == "Gö")
    // Cut in the middle of a character at the limit.
    for (count, text) in [(2, "Gr"), (3, "Gr"), (4, "Grö"), (5, "Grö"), (6, "Grö"), (7, "Grö€")] {
      let bytes = Array("Grö€".utf8.prefix(count))
      #expect(AttachedText.decode(bytes, isCut: true) == text, "\(count)")
    }
    #expect(AttachedText.decode([0x47, 0x72, 0xF6], isCut: false) == "Grö")
    #expect(AttachedText.decode([1, 0, 2]) == "" && AttachedText.decode([]) == "")
    #expect(AttachedText.decode([0xFF, 0xFE]) == "" && AttachedText.decode([0xFF, 0xFE, 1]) == "")
  }

  @Test func aLongTextIsCutBetweenCharacters() {
    for (count, text) in [(0, ""), (2, "Gr"), (3, "Gr"), (4, "Grö"), (6, "Grö"), (7, "Grö€")] {
      #expect("Grö€".cut(to: count) == text, "\(count)")
      #expect("Grö€more".cut(to: count) == text, "\(count)")
    }
    #expect("".cut(to: 3) == "")
  }

  @Test func theExcerptIsAroundWhatWasFound() throws {
    let long = (0..<200).map { "word\($0)" }.joined(separator: " ")
    let record = text("Visit", note: long, fields: "type: visit\nprovider: Dr. Novák")
    func excerpt(_ typed: String, of record: RecordText) -> Excerpt {
      Excerpt(of: record, SearchQuery(typed, cutter), cutter)
    }
    let middle = excerpt("word100", of: record)
    #expect(middle.part == .note && middle.file == nil)
    #expect(middle.text.hasPrefix("… word") && middle.text.hasSuffix(" …"))
    #expect(middle.text.contains(" word100 ") && middle.text.utf8.count < 180)
    #expect(excerpt("novak", of: record).text == "type: visit · provider: Dr. Novák")
    #expect(excerpt("visit", of: text("Visit", note: "It hurt.")).text == "It hurt.")
    #expect(excerpt("visit", of: text("Visit")).text == "")
  }

  @Test func theFileIsNamedInWhichItWasFound() throws {
    var record = text("Visit", note: "It hurt.")
    record.files = [
      try file("a.txt", "nothing"), try file("values.csv", "iron;12"), try file("iron.pdf", ""),
    ]
    func excerpt(_ typed: String) -> Excerpt {
      Excerpt(of: record, SearchQuery(typed, cutter), cutter)
    }
    let inside = excerpt("iron 12")
    #expect(inside.part == .content && inside.file?.string == "values.csv")
    #expect(inside.text == "iron;12")
    #expect(excerpt("pdf").part == .file && excerpt("pdf").file?.string == "iron.pdf")
    #expect(excerpt("hurt").part == .note && excerpt("hurt iron").part == .note)
  }

  @Test func anExcerptCutsNoCharacter() throws {
    let record = text("Visit", note: String(repeating: "青霉素过敏", count: 100))
    let query = SearchQuery("过敏", cutter)
    #expect(!Excerpt(of: record, query, cutter).text.contains("\u{FFFD}"))
    for count in 0..<40 {
      let shifted =
        String(repeating: "x", count: count) + String(repeating: "é", count: 200) + " ende"
      let excerpt = Excerpt(of: text("Visit", note: shifted), SearchQuery("ende", cutter), cutter)
      #expect(!excerpt.text.contains("\u{FFFD}"))
    }
  }
}
