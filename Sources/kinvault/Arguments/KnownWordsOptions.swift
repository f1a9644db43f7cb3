import ArgumentParser
import VaultCrypto

/// The 24 words that a person has.
struct KnownWordsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Take the 24 words from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var wordsFile: String?

  /// The words, from the file or asked for.
  ///
  /// - Parameter name: What the question calls them.
  func words(called name: String = "the 24 words") throws -> RecoveryWords {
    try WordsInput.read(wordsFile: wordsFile, called: name)
  }
}
