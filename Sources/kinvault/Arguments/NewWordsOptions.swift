import ArgumentParser
import VaultCrypto

/// How a person gets 24 new words: on the terminal, or in a file.
struct NewWordsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the new 24 words to this new file (mode 0600) instead of showing them.",
      valueName: "file"),
    completion: .file())
  var wordsOut: String?

  /// Has the words put on paper, and then does what makes them count: whoever breaks off before has nothing whose words
  /// nobody wrote down. If it cannot be done the file goes again.
  ///
  /// - Parameter isShort: Not to ask for some of the words, to see that they were written down.
  func teach<Result: ~Copyable>(
    _ words: consuming RecoveryWords, isShort: Bool,
    then count: (consuming RecoveryWords) throws -> Result
  ) throws -> Result {
    let sheet = try wordsOut.map { path throws(CommandError) in try WordsFile(creating: path) }
    do {
      if let sheet {
        try sheet.write(words.words)
      } else {
        try WordsLesson(words: words.words).give(isShort: isShort)
      }
      Terminal.note("Making the keys; this takes a moment.")
      return try count(words)
    } catch {
      sheet?.remove()
      throw error
    }
  }

  /// Says where the words are, if that is a file.
  func sayWhere() {
    guard let wordsOut else { return }
    Terminal.writeLine(
      "The 24 words are in \(wordsOut). Print them or copy them to paper, then delete the file.\n")
  }
}
