import ArgumentParser
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultModel

struct RecoverySheetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sheet",
    abstract:
      "Make a page to print: where the vault is, blanks for the 24 words, and what to do with them.",
    discussion: """
      One page of HTML for the print dialogue of a browser, on A4 or letter. The blanks are for a pen, so that the words \
      pass through no printer; no password is asked for. With --with-words the words are asked for and tried, and stand on \
      the page. Then the page is as secret as they are: it goes into a new file only you can read, best one in memory, \
      which you delete when it is printed, and the printer may keep what it prints.

      Examples:
        kinvault recovery sheet > sheet.html
        kinvault recovery sheet --with-words --out "$XDG_RUNTIME_DIR/sheet.html"
      """)

  @Option(
    help: ArgumentHelp(
      "Write the page to this new file (mode 0600) instead of standard output.", valueName: "file"),
    completion: .file())
  var out: String?

  @Flag(help: "Ask for the 24 words, try them, and put them on the page; goes with --out.")
  var withWords = false

  @OptionGroup var wordsOptions: KnownWordsOptions
  @OptionGroup var access: AccessOptions

  func validate() throws {
    if withWords, out == nil {
      throw ValidationError("--with-words goes with --out: the words are not shown in passing.")
    }
    if wordsOptions.wordsFile != nil, !withWords {
      throw ValidationError("--words-file goes with --with-words.")
    }
  }

  func run() throws {
    let folder = try access.folderOptions.folder()
    let vault = try Vault.describe(folder: folder).vault
    let remotes = try RemoteRegistry.here(vault: vault).all()
    // Before anything is asked: the words are never read for a file that cannot be made.
    let file = try out.map { path throws(CommandError) in try WordsFile(creating: path) }
    do {
      let sheet = RecoverySheet(
        folder: folder.string, machine: Environment.hostName, vault: vault.hex,
        remotes: remotes.map { .init(name: $0.name.string, address: $0.shownAddress) },
        date: LocalTimeText.today(), words: withWords ? try triedWords() : [])
      if let file { try file.write(sheet.html) } else { Terminal.write(sheet.html) }
    } catch {
      file?.remove()
      throw error
    }
    guard let out else { return }
    Terminal.note("The page is in \(out). Open it in a browser and print it.")
    if withWords {
      Terminal.note("The 24 words stand on it: delete the file when it is printed.")
    }
  }

  /// The words, which open the vault.
  private func triedWords() throws -> [String] {
    try access.withVault(.reading) { vault in
      let words = try wordsOptions.words()
      Terminal.note("Trying the words; this takes a moment.")
      let shown = words.words
      try vault.testWords(words)
      vault.audit.note(.recovery, detail: "sheet")
      return shown
    }
  }
}
