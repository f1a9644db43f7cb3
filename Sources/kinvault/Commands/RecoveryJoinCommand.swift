import ArgumentParser
import Vault

struct RecoveryJoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join two changes of your keys that did not know of each other.",
    discussion: """
      When two of your machines have each removed a device, or replaced the 24 words, before they met, both removals \
      hold; but nobody gives you keys until your words have joined the two. You get new keys, and every member that you \
      own is encrypted anew; the words stay as they are.

      Examples:
        kinvault recovery join
        kinvault recovery join --words-file W
      """)

  @Option(
    help: ArgumentHelp(
      "Take the 24 words from this file (\u{2018}-\u{2019}: standard input).", valueName: "file"),
    completion: .file())
  var wordsFile: String?

  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      KeyRenewal(vault: vault).meet(
        remotes, loss: "What stands only on a remote that could not be synced now is not here yet.")
      guard try vault.areKeysDivided() else {
        Terminal.writeLine("Your keys are in one piece; nothing is to be joined.")
        return
      }
      let words = try WordsInput.read(wordsFile: wordsFile)
      Terminal.note("Making new keys; this takes a moment.")
      try vault.beginGeneration(removing: [], words: words)
      vault.audit.note(.recovery, detail: "join")
      Terminal.writeLine("Your keys are in one piece again.")
      try KeyRenewal(vault: vault).run()
      remotes.syncAll(vault, showsProgress: true).forEach { Terminal.note("kinvault: \($0)") }
    }
  }
}
