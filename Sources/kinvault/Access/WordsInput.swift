import VaultCrypto

/// The 24 words as a person gives them: in a file, or typed at the terminal, over as many lines as they like.
enum WordsInput {
  /// - Throws: `WordsError` for a file without 24 words that belong together; `locked` where nobody can be asked.
  static func read(wordsFile: String?) throws -> RecoveryWords {
    if let wordsFile { return try RecoveryWords(parsing: SecretInput.read(path: wordsFile)) }
    guard let prompt = TerminalPrompt() else {
      throw CommandError.locked("There is no terminal to ask for the 24 words. Use --words-file.")
    }
    prompt.show("Type the 24 words in their order, over as many lines as you like.\n")
    var typed: [String] = []
    while true {
      let line = try prompt.line("Words \(typed.count + 1) to 24: ")
      typed += line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard typed.count >= 24 else { continue }
      do throws(WordsError) {
        return try RecoveryWords(parsing: typed.joined(separator: " "))
      } catch {
        prompt.show("\(error.message)\nOnce more, from the first word.\n")
        typed = []
      }
    }
  }
}
