import Testing

@testable import Search

/// How texts are cut into words, and what a word that was typed finds.
@Suite struct WordTests {
  private let cutter: WordCutter

  init() throws { cutter = try WordCutter() }

  private func words(_ text: String) -> [String] { cutter.words(of: text).map(\.text) }

  /// Whether what is typed is found in the text, by the index and by who looks for the place to show.
  private func finds(
    _ typed: String, in text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Bool {
    let index = try TextIndex()
    var record = RecordText(title: "")
    record.note = text
    try index.add([(1, record), (2, RecordText(title: "unlike anything"))])
    let vocabulary = Vocabulary(try index.vocabulary())
    let query = SearchQuery(typed, cutter)
    let found = try query.words.map { try index.rows(matching: $0.expression(vocabulary)) == [1] }
    let cut = cutter.words(of: text)
    let places = query.words.map { !$0.places(in: cut).isEmpty }
    #expect(
      found == places, "the place that is shown is another one", sourceLocation: sourceLocation)
    return !found.isEmpty && !found.contains(false)
  }

  @Test func lettersAreSmallAndWithoutAccents() {
    #expect(words("Müller naïve ÅSE") == ["muller", "naive", "ase"])
    // As some systems write names of files: the accent is a character of its own.
    #expect(words("Mu\u{308}ller") == ["muller"])
    #expect(words("Straße STRASSE") == ["strasse", "strasse"])
    #expect(words("Ёлка йод") == ["елка", "иод"])
    #expect(words("άνθρωπος ΆΝΘΡΩΠΟΣ") == ["ανθρωποσ", "ανθρωποσ"])
    #expect(words("हिन्दी भाषा") == ["हिन्दी", "भाषा"])
    #expect(words("+++ — !?") == [])
  }

  @Test func aWordIsFoundWhileItIsTyped() throws {
    for end in 2...10 {
      #expect(try finds(String("Penicillin".prefix(end)), in: "No allergy to penicillin."))
    }
    #expect(try !finds("penicillins", in: "No allergy to penicillin."))
    #expect(try finds("ünal", in: "Frau Unal") && finds("unal", in: "Frau ÜNAL"))
    #expect(try finds("strasse", in: "Hauptstraße 7") && finds("Straße", in: "strasse"))
    #expect(try finds("елка", in: "Ёлка"))
  }

  @Test func aSingleLetterIsOnlyItself() throws {
    #expect(try finds("vitamin d", in: "Vitamin D3, Vitamin D"))
    #expect(try !finds("vitamin d", in: "vitamins daily"))
  }

  @Test func partsOfCompoundsAreFound() throws {
    #expect(try finds("impfung", in: "Die Grippeimpfung am Montag"))
    #expect(try finds("arzt", in: "zum Zahnarzt") && finds("kinder", in: "Kinderarzttermin"))
    #expect(try finds("грамма", in: "Кардиограмма без изменений"))
    // Three letters are in too many words, and digits are no part of another number.
    #expect(try !finds("arm", in: "Alarm") && !finds("2024", in: "712024"))
    #expect(try !finds("\"impfung\"", in: "Grippeimpfung") && finds("\"impfung\"", in: "Impfung"))
  }

  @Test func anyPartOfATextThatDoesNotPartWordsIsFound() throws {
    let text = "对青霉素过敏。小児科 さくらクリニック 예방접종"
    for part in ["青霉素", "青霉", "霉素过敏", "敏", "过", "小児科", "児", "科", "クリニック", "접종", "예방접종"] {
      #expect(try finds(part, in: text), "\(part)")
    }
    for part in ["素霉", "青素", "敏小", "药"] { #expect(try !finds(part, in: text), "\(part)") }
    #expect(try finds("Flu疫苗", in: "接种flu疫苗后") && finds("疫苗", in: "接种flu疫苗"))
    #expect(try finds("ภาษา", in: "เขียนภาษาไทย"))
  }

  @Test func whatStandsTogetherIsFoundTogether() throws {
    #expect(try finds("covid-19", in: "COVID-19, first dose"))
    #expect(try !finds("covid-19", in: "covid on the 19th"))
    #expect(try finds("2025-01-20", in: "on 2025-01-20") && finds("2025-01", in: "on 2025-01-20"))
    #expect(try !finds("2025-01-20", in: "on 2025-02-20 and 01"))
    #expect(try finds("\"sore arm\"", in: "A sore arm."))
    #expect(try !finds("\"sore arm\"", in: "Arm sore.") && finds("sore arm", in: "Arm sore."))
    #expect(try finds("„sore arm“ fever", in: "fever, sore arm"))
  }

  @Test(arguments: [
    "", "  ", "\"", "\"\"", "***", "a\" OR \"b", "title : x", "NEAR(a b)", "^a", "(", "a AND", "-x",
    "\u{0}", "'", "a*b*", "{note} : a", "NOT", "\"unclosed", "+", "é\u{301}\u{301}", "\u{FFFD}",
    String(repeating: "x", count: 5000), String(repeating: "a ", count: 300),
  ])
  func nothingThatIsTypedIsWrong(_ text: String) throws {
    let index = try TextIndex()
    var record = RecordText(title: "a or b and not near x title note unclosed")
    record.note = text
    try index.add([(1, record)])
    let vocabulary = Vocabulary(try index.vocabulary())
    let query = SearchQuery(text, cutter)
    for word in query.words { _ = try index.rows(matching: word.expression(vocabulary)) }
    let all = query.words.map { $0.expression(vocabulary) }.joined(separator: " AND ")
    if !query.isEmpty {
      #expect(try index.rows(matching: all) == [1], "a text does not find itself")
    }
  }

  @Test func wordsOfTheLanguageOfTheIndexAreWords() throws {
    #expect(try finds("or", in: "hot or cold") && finds("NOT", in: "not today"))
    #expect(try !finds("hot OR warm", in: "hot"))
  }

  @Test func theShortestWordsStandForOneThatIsInManyOfThem() throws {
    let index = try TextIndex()
    var record = RecordText(title: "")
    record.note = (0..<500).map { "x\($0)blut" }.joined(separator: " ")
    try index.add([(1, record)])
    let vocabulary = Vocabulary(try index.vocabulary())
    let found = vocabulary.words(containing: Array("blut".utf8))
    #expect(found.count == Vocabulary.matchLimit)
    #expect(found.first == "x0blut" && !found.contains("x499blut"))
    let word = try #require(SearchQuery("blut", cutter).words.first)
    #expect(try index.rows(matching: word.expression(vocabulary)) == [1])
  }
}
