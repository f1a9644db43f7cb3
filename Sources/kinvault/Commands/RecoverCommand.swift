import ArgumentParser
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct RecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Open the vault with the 24 words and set a new password on this machine.",
    discussion: """
      For a lost password, and for a machine that does not know the vault yet (restored from a backup, or \
      copied here). Copy the vault's folder to this machine first, if it is not here. What this machine saved \
      before it was removed, and nobody has got, is taken along.

      Examples:
        kinvault recover --vault ~/Family
        kinvault recover --vault ~/Family --words-file W --password-file F
      """)

  @OptionGroup var folderOptions: FolderOptions
  @OptionGroup var wordsOptions: KnownWordsOptions
  @OptionGroup var deviceOptions: NewDeviceOptions

  func run() throws {
    let folder = try folderOptions.folder()
    let id = try Vault.describe(folder: folder).vault
    let words = try wordsOptions.words()
    let password = try deviceOptions.newPassword()
    Terminal.note("Opening with the words; this takes a moment.")
    let machine = try deviceOptions.machine()
    let key: DeviceUnlockKey
    do {
      key = try Vault.recover(
        .here(in: folder), words: words, device: machine, password: password)
    } catch {
      SignInNotes.refused(error, of: id)
      throw error
    }
    let vault = try Vault.open(
      .here(in: folder), key: key, options: OpenOptions(acceptRollback: true))
    vault.audit.note(.recovery)
    let notes = AccessOptions.notes(on: vault)
    try vault.close()
    let isUnlocked = deviceOptions.keepUnlocked(key, vault: id)
    let more = isUnlocked ? ", and the vault is unlocked" : ""
    Terminal.writeLine("This machine has a password of its own now\(more).")
    for note in notes { Terminal.note(note) }
  }
}
