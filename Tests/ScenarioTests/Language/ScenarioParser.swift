/// Reads the scenarios of one file.
struct ScenarioParser {
  private let file: String
  private var scenarios: [Scenario] = []

  /// - Throws: `ScenarioError` at the first line that cannot be understood.
  static func parse(_ text: String, file: String) throws(ScenarioError) -> [Scenario] {
    var parser = ScenarioParser(file: file)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() { try parser.take(String(line), number + 1) }
    if let empty = parser.scenarios.first(where: { $0.steps.isEmpty }) {
      throw ScenarioError(file: file, line: lines.count, text: "“\(empty.name)” has no steps")
    }
    return parser.scenarios
  }

  private init(file: String) { self.file = file }

  private func wrong(_ line: Int, _ text: String) -> ScenarioError {
    ScenarioError(file: file, line: line, text: text)
  }

  private mutating func take(_ text: String, _ number: Int) throws(ScenarioError) {
    let isIndented = text.first == " "
    let trimmed = text.trimmed
    if trimmed.isEmpty || trimmed.first == "#" { return }
    if isIndented { return try addToBlock(trimmed, number) }
    let words = try words(of: trimmed, number)
    let first = words[0].text
    if first == "scenario" {
      let name = words.dropFirst().map(\.text).joined(separator: " ")
      guard !name.isEmpty else { throw wrong(number, "a scenario needs a name") }
      scenarios.append(
        Scenario(file: file, name: name, people: [], members: [], remotes: [], steps: []))
      return
    }
    guard !scenarios.isEmpty else {
      throw wrong(number, "a file begins with “scenario” and a name")
    }
    switch first {
    case "or":
      guard words.count == 1, let last = scenarios[end].steps.indices.last,
        !scenarios[end].steps[last].block.isEmpty
      else { throw wrong(number, "“or” stands alone, between two blocks of indented lines") }
      scenarios[end].steps[last].alternatives.append([])
    case "members": scenarios[end].members += list(words.dropFirst())
    case "remotes": scenarios[end].remotes += list(words.dropFirst())
    default:
      if words.count > 2, words[1].text == "uses", !words[1].isQuoted {
        scenarios[end].people.append(.init(name: first, devices: list(words.dropFirst(2))))
      } else {
        try addStep(words, number)
      }
    }
  }

  private var end: Int { scenarios.count - 1 }

  private func list(_ words: some Sequence<Scenario.Word>) -> [String] {
    words.map { $0.text.last == "," ? String($0.text.dropLast()) : $0.text }
      .filter { $0 != "and" && !$0.isEmpty }
  }

  /// `desk`, `desk and laptop`, `desk, laptop and phone`; then what they do.
  private mutating func addStep(
    _ words: [Scenario.Word], _ number: Int
  ) throws(ScenarioError) {
    var subjects: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word.text.last == "," {
        subjects.append(String(word.text.dropLast()))
      } else {
        subjects.append(word.text)
        guard rest.first?.text == "and" else { break }
        rest.removeFirst()
      }
    }
    guard !rest.isEmpty else {
      throw wrong(number, "“\(words.map(\.text).joined(separator: " "))” does not say what happens")
    }
    scenarios[end].steps.append(
      .init(line: number, subjects: subjects, words: Array(rest), block: []))
  }

  private mutating func addToBlock(_ text: String, _ number: Int) throws(ScenarioError) {
    guard !scenarios.isEmpty, let last = scenarios[end].steps.indices.last else {
      throw wrong(number, "an indented line belongs below a step")
    }
    let line = Scenario.BlockLine(line: number, text: text)
    let alternative = scenarios[end].steps[last].alternatives.indices.last
    if let alternative {
      scenarios[end].steps[last].alternatives[alternative].append(line)
    } else {
      scenarios[end].steps[last].block.append(line)
    }
  }

  // MARK: Words

  private func words(of text: String, _ number: Int) throws(ScenarioError) -> [Scenario.Word] {
    var words: [Scenario.Word] = []
    var rest = text[...]
    while let character = rest.first {
      if character == " " {
        rest.removeFirst()
      } else if character == "\"" {
        rest.removeFirst()
        guard let close = rest.firstIndex(of: "\"") else {
          throw wrong(number, "a quotation mark is not closed")
        }
        words.append(.init(text: String(rest[..<close]), isQuoted: true))
        rest = rest[rest.index(after: close)...]
      } else {
        let word = rest.prefix { $0 != " " }
        words.append(.init(text: String(word), isQuoted: false))
        rest = rest.dropFirst(word.count)
      }
    }
    return words
  }
}

extension StringProtocol {
  /// Without blanks at either end.
  var trimmed: String {
    let front = drop { $0 == " " }
    guard let last = front.lastIndex(where: { $0 != " " }) else { return "" }
    return String(front[...last])
  }
}
