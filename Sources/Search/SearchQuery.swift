/// What a person looks for. Every text is one: there is nothing in it that could be wrong.
///
/// Words are all required. What stands in quotation marks is required as it stands, its words one after the other. A word
/// also finds those that begin with it and, from four letters on, those that have it inside.
package struct SearchQuery: Sendable {
  struct Word: Sendable {
    /// What was typed without a space in it, or in quotation marks, as words of the index: one after the other.
    var parts: [String]
    /// In quotation marks: only what stands there.
    var isExact: Bool
  }

  var words: [Word]

  /// Whether nothing is looked for: there was no letter and no digit.
  package var isEmpty: Bool { words.isEmpty }

  package init(_ text: String, _ cutter: WordCutter) {
    words = Self.pieces(of: text).compactMap { piece in
      let parts = cutter.words(of: piece.text).filter { !$0.isBeside }.map(\.text)
      return parts.isEmpty ? nil : Word(parts: parts, isExact: piece.isExact)
    }
  }

  /// What stands between spaces, and between quotation marks; the last of these need not be closed.
  private static func pieces(of text: String) -> [(text: String, isExact: Bool)] {
    var pieces: [(text: String, isExact: Bool)] = []
    var piece = ""
    var isQuoted = false
    func end() {
      if !piece.isEmpty { pieces.append((piece, isQuoted)) }
      piece = ""
    }
    for character in text {
      if "\"„“”«»".contains(character) {
        end()
        isQuoted.toggle()
      } else if character.isWhitespace, !isQuoted {
        end()
      } else {
        piece.append(character)
      }
    }
    end()
    return pieces
  }
}

extension SearchQuery.Word {
  /// Of one letter only that letter itself is found, as in “vitamin D”; of a character that is a syllable or a word, all.
  var isPrefix: Bool {
    guard !isExact, let last = parts.last?.unicodeScalars else { return false }
    return last.count > 1 || last.contains(where: Self.isUnparted)
  }

  /// Whether words are found that have it inside: one word of four letters or more. Fewer would be found in everything, and
  /// the digits of a number are no part of another one.
  var isFoundInside: Bool {
    guard !isExact, parts.count == 1, let scalars = parts.first?.unicodeScalars else {
      return false
    }
    return scalars.count >= 4 && scalars.contains { $0.properties.isAlphabetic }
      && !scalars.contains(where: Self.isUnparted)
  }

  /// Of these the index has pairs of neighbours, so any part of a text is found anyway. Those of kv_register_words.
  private static func isUnparted(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0xE00 }

  /// The expression of FTS5 for it. Its words are letters and digits only.
  func expression(_ vocabulary: Vocabulary) -> String {
    let typed = "\"\(parts.joined(separator: " "))\"\(isPrefix ? " *" : "")"
    guard isFoundInside else { return typed }
    let others = vocabulary.words(containing: Array(parts[0].utf8)).map { "\"\($0)\"" }
    return "(\(([typed] + others).joined(separator: " OR ")))"
  }

  /// Where the word stands in a text, as ranges of its words.
  func places(in words: [TextWord]) -> [Range<Int>] {
    // What stands beside a word is only looked at by itself: it is in no row.
    let row = words.indices.filter { !words[$0].isBeside }
    let wanted = parts.map { Array($0.utf8) }
    var found: [Range<Int>] = []
    for (number, index) in row.enumerated() where number + wanted.count <= row.count {
      let isHere = wanted.enumerated().allSatisfy { offset, part in
        let word = words[row[number + offset]].bytes
        let isLast = offset == wanted.count - 1
        if isLast, isFoundInside { return word.contains(part) }
        return isLast && isPrefix ? word.starts(with: part) : word == part
      }
      if isHere { found.append(index..<row[number + wanted.count - 1] + 1) }
    }
    guard wanted.count == 1, let part = wanted.first else { return found }
    return found
      + words.indices.filter { words[$0].isBeside && words[$0].bytes == part }
      .map { $0..<$0 + 1 }
  }
}
