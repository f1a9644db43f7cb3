import VaultCrypto

/// Words as a person gives them: in a file, or typed at the terminal, over as many lines as they like.
enum WordsInput {
  /// The 24 words.
  ///
  /// - Throws: `WordsError` for a file without 24 words that belong together; `locked` where nobody can be asked.
  static func read(wordsFile: String?, called name: String = "the 24 words") throws -> RecoveryWords
  {
    if let wordsFile { return try RecoveryWords(parsing: SecretInput.read(path: wordsFile)) }
    return try ask(for: name, count: RecoveryWords.count) { (text) throws(WordsError) in
      try RecoveryWords(parsing: text)
    }
  }

  /// The eight words that another device of this person shows.
  ///
  /// - Throws: As `read`.
  static func readApproval(wordsFile: String?) throws -> ApprovalWords {
    if let wordsFile {
      let text = try SecretInput.read(path: wordsFile).withUnsafeBytes {
        String(decoding: $0, as: UTF8.self)
      }
      return try ApprovalWords(parsing: text)
    }
    return try ask(for: "the eight words", count: ApprovalWords.count) {
      (text) throws(WordsError) in try ApprovalWords(parsing: text)
    }
  }

  private static func ask<Words: ~Copyable>(
    for name: String, count: Int, _ parse: (String) throws(WordsError) -> Words
  ) throws -> Words {
    guard let prompt = TerminalPrompt() else {
      throw CommandError.locked("There is no terminal to ask for \(name). Use --words-file.")
    }
    prompt.show("Type \(name) in their order, over as many lines as you like.\n")
    var typed = ""
    while true {
      let typedCount = Wordlist.words(in: typed, count: count).count
      typed += try prompt.line("Words \(typedCount + 1) to \(count): ") + "\n"
      guard Wordlist.words(in: typed, count: count).count >= count else { continue }
      do {
        return try parse(typed)
      } catch {
        prompt.show("\(error.message)\nOnce more, from the first word.\n")
        typed = ""
      }
    }
  }
}
