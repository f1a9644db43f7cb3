import ArgumentParser
import Glibc
import SystemPackage
import Vault
import VaultCrypto

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make a new vault.",
    discussion: """
      Makes the folder if it is missing; a folder with anything in it is refused. You choose a password \
      for this machine, and get 24 words. The words are the only way in when the password is lost or the \
      machine is gone: write them on paper.

      Examples:
        kinvault init --vault ~/Family
        kinvault init --vault ~/Family --password-file F --words-out W --yes
      """)

  @OptionGroup var folderOptions: FolderOptions

  @Option(
    help: ArgumentHelp(
      "What you call yourself. Default: the name of this account.", valueName: "name"))
  var name: String?

  @Option(
    help: ArgumentHelp("What this machine is called. Default: its host name.", valueName: "name"))
  var device: String?

  @Option(
    help: ArgumentHelp("Take the new password from this file.", valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Option(
    help: ArgumentHelp(
      "Write the 24 words to this new file (mode 0600) instead of showing them.", valueName: "file"),
    completion: .file())
  var wordsOut: String?

  @Flag(help: "Do not ask to type some of the words back.")
  var yes = false

  func run() throws {
    let folder = try newFolder()
    try checkIsEmpty(folder)
    let sheet = try wordsOut.map { path throws(CommandError) in try WordsFile(creating: path) }
    let password = try PasswordSource.configured(passwordFile: passwordFile).new()
    Terminal.note("Making the keys; this takes a moment.")
    let created: CreatedVault
    do {
      created = try Vault.create(
        in: folder, stateRoot: Environment.stateRoot,
        device: .here(personName: name, deviceName: device), password: password)
      try sheet?.write(created.words.words)
    } catch {
      sheet?.remove()
      throw error
    }
    if sheet == nil { try WordsLesson(words: created.words.words).give(isShort: yes) }
    try SessionKeys.store(created.unlockKey, vault: created.id, timeout: SessionKeys.defaultTimeout)
    farewell(folder)
  }

  private func newFolder() throws -> FilePath {
    guard let path = folderOptions.vault ?? Environment.value("KINVAULT_VAULT") else {
      throw CommandError.usage(
        "Say where the vault is to be made: kinvault init --vault FOLDER")
    }
    return VaultLocation.absolute(path)
  }

  /// Before anything is asked; making the vault looks again.
  private func checkIsEmpty(_ folder: FilePath) throws {
    guard access(folder.appending("vault.json").string, F_OK) != 0 else {
      throw CommandError.alreadyExists(
        "\(folder) is a vault already. To use it on this machine: kinvault recover --vault \(folder)"
      )
    }
    guard let listing = opendir(folder.string) else {
      if errno == ENOENT { return }
      throw CommandError.system(call: "open", path: folder.string, errno: errno)
    }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      guard name == Array(".".utf8) || name == Array("..".utf8) else {
        throw VaultError.folderNotEmpty(folder: folder.string)
      }
    }
  }

  private func farewell(_ folder: FilePath) {
    if let wordsOut {
      Terminal.writeLine(
        "The 24 words are in \(wordsOut). Print them or copy them to paper, then delete the file.\n"
      )
    }
    Terminal.writeLine(
      """
      The vault is ready: \(folder)
      What belongs to this machine only, and opens with your password, is in \(Environment.stateRoot).

      Go on with:
        kinvault member add Emma --vault \(folder)
        kinvault mount ~/family-records --vault \(folder)
      """)
  }
}

extension NewDevice {
  /// This machine, with a password cost measured on it.
  static func here(personName: String?, deviceName: String?) -> NewDevice {
    let cost = Argon2Cost.calibrated()
    return NewDevice(
      personName: personName ?? Environment.userName,
      deviceName: deviceName ?? Environment.hostName, deviceKind: "computer", passwordCost: cost,
      recoveryCost: cost)
  }
}
