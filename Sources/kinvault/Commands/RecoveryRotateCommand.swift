import ArgumentParser
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct RecoveryRotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Get new 24 words; the old ones open nothing any more.",
    discussion: """
      For paper that someone may have seen. Asks for the old words, since only they can name the new ones. You get new \
      keys, and every member that you own is encrypted anew; your devices go on without typing anything. Whoever has \
      the old words and an old copy of the vault can still read that copy.

      Examples:
        kinvault recovery rotate
        kinvault recovery rotate --words-file OLD --words-out NEW --yes
      """)

  @Option(
    help: ArgumentHelp(
      "Take the old 24 words from this file (\u{2018}-\u{2019}: standard input).",
      valueName: "file"),
    completion: .file())
  var wordsFile: String?

  @OptionGroup var wordsOptions: NewWordsOptions
  @Flag(help: "Do not ask to type some of the new words back.") var yes = false

  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      KeyRenewal(vault: vault).meet(remotes)
      let old = try WordsInput.read(wordsFile: wordsFile, called: "the old 24 words")
      Terminal.note("Trying the old words; this takes a moment.")
      try SignInNotes.tryingWords(of: vault.id) { () throws(VaultError) in
        try vault.testWords(old)
      }
      try vault.closingPreview(removing: []).print(in: vault)
      do {
        // On paper before they count: whoever stops here goes on with the old ones.
        try wordsOptions.teach(.random(), isShort: yes) { try vault.replaceWords(old, with: $0) }
      } catch {
        Terminal.note("kinvault: Nothing was changed: the old words are still the ones that count.")
        throw error
      }
      vault.audit.note(.recovery, detail: "rotate")
      Terminal.writeLine("The new words count from now on. Destroy the old ones.")
      wordsOptions.sayWhere()
      try KeyRenewal(vault: vault).run(remotes)
    }
  }
}
