import ArgumentParser
import Vault
import VaultCrypto
import VaultErrors

struct RecoveryJoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join two changes of your keys that did not know of each other.",
    discussion: """
      When two of your machines have each removed a device, or replaced the 24 words, before they met, both removals \
      hold; but nobody gives you keys until your words have joined the two. You get new keys, and every member that you \
      own is encrypted anew; the words stay as they are.

      When both machines have replaced the words, it takes both new papers, in any order. The words that were made last \
      go on; the others open nothing from then on. Until then each machine goes by the words that it saw first. Nobody \
      can do this with one of the two papers, nor with the one that was replaced.

      Examples:
        kinvault recovery join
        kinvault recovery join --words-file W
        kinvault recovery join --words-file ONE --words-file OTHER
      """)

  @Option(
    help: ArgumentHelp(
      "Take the 24 words from this file (\u{2018}-\u{2019}: standard input); twice where they were replaced twice.",
      valueName: "file"),
    completion: .file())
  var wordsFile: [String] = []

  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVaultAndKey(.writing) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      KeyRenewal(vault: vault).meet(remotes)
      guard let divided = try vault.readDividedKeys() else {
        Terminal.writeLine("Your keys are in one piece; nothing is to be joined.")
        return
      }
      try vault.closingPreview(removing: []).print(in: vault)
      try join(divided, in: vault)
      vault.audit.note(.recovery, detail: "join")
      if let left = vault.dividedKeys {
        Terminal.note("kinvault: Two of them are joined now, and more are left. \(left.text)")
      } else {
        Terminal.writeLine("Your keys are in one piece again.")
      }
      try KeyRenewal(vault: vault).run(remotes)
    }
  }

  private func join(_ divided: DividedKeys, in vault: Vault) throws {
    let files = wordsFile.map { Optional($0) }
    switch divided {
    case .closings:
      guard files.count < 2 else {
        throw CommandError.usage(
          "Your words were replaced once at most, so one --words-file is enough.")
      }
      let words = try WordsInput.read(wordsFile: files.first ?? nil)
      Terminal.note("Making new keys; this takes a moment.")
      try SignInNotes.tryingWords(of: vault.id) { () throws(VaultError) in
        try vault.beginGeneration(removing: [], words: words)
      }
    case .words(let made, _):
      guard files.isEmpty || files.count == 2 else {
        throw CommandError.usage(
          "Your words were replaced more than once, so both papers are needed: --words-file ONE --words-file OTHER"
        )
      }
      Terminal.note(divided.text)
      let one = try WordsInput.read(wordsFile: files.first ?? nil, called: "the 24 words of one")
      let other = try WordsInput.read(
        wordsFile: files.last ?? nil, called: "the 24 words of the other")
      Terminal.note("Making new keys; this takes a moment.")
      try vault.joinWords(one, other)
      Terminal.writeLine(Self.whichCount(made))
    }
  }

  private static func whichCount(_ made: [UInt64]) -> String {
    "Of the two, the words that were made last count from now on"
      + (made.count == 2 ? ": those of \(DateText.local(milliseconds: made[0]))." : ".")
      + " Destroy the others."
  }
}
