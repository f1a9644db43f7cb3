import VaultCrypto

/// Gets the 24 words from the person, or from a file.
enum WordsInput {
  static func read(file: String?) throws -> RecoveryWords {
    if let file { return try RecoveryWords(parsing: SecretInput.read(path: file)) }
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
