/// Refuses YAML that would cost more to parse than its length, by looking at its characters only.
///
/// Every bound is from above: text that passes cannot nest deeper and cannot expand. Some harmless
/// text is refused as well; it is then reported as unreadable, and nothing is lost.
enum FrontMatterBounds {
  /// How many lists and maps in brackets there may be in all, so also one in another.
  static let bracketLimit = 256

  /// How far to the right a line may begin, after spaces and the indicators `-`, `?` and `:`.
  /// Each level of block nesting begins further right than the one around it.
  static let indentLimit = 64

  static func check(_ yaml: ArraySlice<UInt8>, firstLine: Int) throws(FrontMatterError) {
    var brackets = 0
    var anchors: Set<ArraySlice<UInt8>> = []
    var aliases: Set<ArraySlice<UInt8>> = []
    var lineNumber = firstLine
    for line in lines(of: yaml) {
      brackets += line.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      let indent = line.prefix { Array(" \t-?:".utf8).contains($0) }.count
      guard brackets <= bracketLimit, indent <= indentLimit else {
        throw FrontMatterError(.nestedTooDeeply, line: lineNumber)
      }
      anchors.formUnion(names(after: UInt8(ascii: "&"), in: line))
      aliases.formUnion(names(after: UInt8(ascii: "*"), in: line))
      guard anchors.isDisjoint(with: aliases) else {
        throw FrontMatterError(.aliases, line: lineNumber)
      }
      if line.endIndex < yaml.endIndex, yaml[line.endIndex] == UInt8(ascii: "\n") {
        lineNumber += 1
      }
    }
  }

  /// The lines as YAML counts them: a carriage return and three characters beyond ASCII end one too.
  private static func lines(of yaml: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = yaml.startIndex
    for index in yaml.indices where endsLine(yaml[...index]) {
      lines.append(yaml[start..<index])
      start = index + 1
    }
    lines.append(yaml[start...])
    return lines
  }

  private static func endsLine(_ bytes: ArraySlice<UInt8>) -> Bool {
    switch bytes.last {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
    case 0x85: bytes.dropLast().last == 0xC2
    case 0xA8, 0xA9: bytes.dropLast().suffix(2) == [0xE2, 0x80]
    default: false
    }
  }

  /// What follows each `&` or `*` at a place where an anchor or alias can stand: first on its line,
  /// or after an indicator or a tag.
  private static func names(
    after mark: UInt8, in line: ArraySlice<UInt8>
  ) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    var wordBefore: ArraySlice<UInt8> = []
    for word in line.split(whereSeparator: { " \t[]{},".utf8.contains($0) }) {
      // Inside a word, only `"key":*alias` is possible.
      let starts = word.indices.filter { index in
        word[index] == mark && (index == word.startIndex || word[index - 1] == UInt8(ascii: ":"))
      }
      for start in starts where start > word.startIndex || canPrecede(wordBefore, line, start) {
        let name = word[(start + 1)...].prefix { $0 != UInt8(ascii: ":") }
        if !name.isEmpty { found.append(name) }
      }
      wordBefore = word
    }
    return found
  }

  private static func canPrecede(
    _ wordBefore: ArraySlice<UInt8>, _ line: ArraySlice<UInt8>, _ start: Int
  ) -> Bool {
    guard let last = wordBefore.last, let first = wordBefore.first else { return true }
    let gap = line[wordBefore.endIndex..<start]
    return ":-?".utf8.contains(last) || first == UInt8(ascii: "!")
      || gap.contains { "[]{},".utf8.contains($0) }
  }
}
