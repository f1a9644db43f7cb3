import ArgumentParser
import BlobStore
import Glibc
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors

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

  @OptionGroup var person: NewPersonOptions

  @Flag(help: "Do not ask to type some of the words back.")
  var yes = false

  func run() throws {
    let folder = try newFolder()
    try checkIsEmpty(folder)
    let password = try person.deviceOptions.newPassword()
    let created = try person.wordsOptions.teach(.random(), isShort: yes) { words in
      let machine = try person.deviceOptions.machine(of: person.name?.text)
      let copy = try VaultCopy.make(in: folder, stateRoot: Environment.stateRoot)
      return try Vault.create(copy, device: machine, password: password, words: words)
    }
    person.deviceOptions.keepUnlocked(created.unlockKey, vault: created.id)
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
    let names: [[UInt8]]
    do { names = try FolderNames.all(in: folder) } catch {
      if error == .noSuchFileOrDirectory { return }
      throw CommandError.system(call: "open", path: folder.string, errno: error.rawValue)
    }
    // What a vault consists of before it has its vault.json and its first member.
    if names == [Array("people".utf8)] {
      let leftOver = ShellWord.quoted(folder.appending("people").string)
      throw CommandError.refused(
        "An earlier kinvault init was interrupted in \(folder), before there was a vault. Nothing of "
          + "value is in it. Clear it, and run kinvault init again:\n  rm -r \(leftOver)")
    }
    guard names.isEmpty else { throw VaultError.folderNotEmpty(folder: folder.string) }
  }

  private func farewell(_ folder: FilePath) {
    person.wordsOptions.sayWhere()
    let quoted = ShellWord.quoted(folder.string)
    Terminal.writeLine(
      """
      The vault is ready: \(folder)
      What belongs to this machine only, and opens with your password, is in \(Environment.stateRoot).

      Go on with:
        kinvault member add Emma --vault \(quoted)
        kinvault mount ~/family-records --vault \(quoted)
      """)
  }
}
