import VaultModel

/// The 2048 words that spell recovery codes: BIP 39, English.
package enum Wordlist {
  /// Sorted; the first four letters tell any two apart.
  package static let english: [String] = englishText.split(whereSeparator: \.isWhitespace)
    .map(String.init)

  /// The place of a word in the list, also when it is written in capitals or cut after four letters
  /// or more; nil if it is none.
  static func index(of word: String) -> Int? {
    let word = word.lowercased()
    let position = firstIndex { $0 >= word }
    guard position < english.count else { return nil }
    let isFound =
      english[position] == word || (word.utf8.count >= 4 && english[position].hasPrefix(word))
    return isFound ? position : nil
  }

  /// The words of a text, without the numbers before them: `1 zoo`, `1. zoo`, `1.zoo`.
  ///
  /// - Parameter count: Of so many words with the numbers from 1 to this one the numbers say the order, since those that
  ///   Kinvault shows are numbered down columns, and copied line by line. All others are in the order of the text.
  package static func words(in text: String, count: Int) -> [String] {
    var words: [(number: Int?, word: String)] = []
    var number: Int?
    for part in text.split(whereSeparator: \.isWhitespace) {
      let digits = part.prefix { ("0"..."9").contains($0) }
      if !digits.isEmpty { number = Int(digits) }
      let word = digits.isEmpty ? part : part[digits.endIndex...].drop { ".):".contains($0) }
      if word.isEmpty { continue }
      words.append((number, String(word)))
      number = nil
    }
    if words.count == count, words.compactMap(\.number).sorted() == Array(1...count) {
      words.sort { ($0.number ?? 0) < ($1.number ?? 0) }
    }
    return words.map(\.word)
  }

  /// The word that takes the fewest changed, added, left out or exchanged letters to get to.
  static func nearest(to word: String) -> String {
    // Longer than any word of the list: the rest says nothing.
    let letters = Array(word.lowercased().utf8.prefix(16))
    var best = (word: english[0], distance: Int.max)
    for candidate in english {
      let distance = EditDistance.between(letters, Array(candidate.utf8))
      if distance < best.distance { best = (candidate, distance) }
    }
    return best.word
  }

  /// Binary search for the first word that `isAtOrAfter` says yes to.
  private static func firstIndex(where isAtOrAfter: (String) -> Bool) -> Int {
    var range = 0..<english.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        isAtOrAfter(english[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}
