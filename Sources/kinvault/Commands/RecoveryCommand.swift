import ArgumentParser
import Vault
import VaultErrors

struct RecoveryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery",
    abstract:
      "Print a page for the 24 words, see that they still work, replace them, or join two changes of keys.",
    subcommands: [
      RecoverySheetCommand.self, RecoveryTestCommand.self, RecoveryRotateCommand.self,
      RecoveryJoinCommand.self,
    ])
}

struct RecoveryTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Type the 24 words, and see that they open the vault.",
    discussion: """
      Changes nothing. Once a year is a good habit; ends with 3 when the words are not yours.

      Examples:
        kinvault recovery test
        kinvault recovery test --words-file W
      """)

  @OptionGroup var wordsOptions: KnownWordsOptions
  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.reading) { vault in
      let words = try wordsOptions.words()
      Terminal.note("Trying the words; this takes a moment.")
      try SignInNotes.tryingWords(of: vault.id) { () throws(VaultError) in
        try vault.testWords(words)
      }
      vault.audit.note(.recovery, detail: "test")
    }
    Terminal.writeLine("These are your words, and they open the vault.")
  }
}
