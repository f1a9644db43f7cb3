import ArgumentParser
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct PasswordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "password",
    abstract: "Change the password of the vault on this machine.",
    discussion: """
      Takes effect at once and writes nothing into the vault: each machine has a password of its own. The \
      old password is asked for even if the vault is unlocked. If it is lost: kinvault recover

      Example:
        kinvault password
      """)

  @OptionGroup var access: AccessOptions

  @Option(
    help: ArgumentHelp("Take the new password from this file.", valueName: "file"),
    completion: .file())
  var newPasswordFile: String?

  func run() throws {
    let copy = try VaultCopy.here(in: access.folderOptions.folder())
    let slots = UnlockSlots(of: copy)
    let current = try PasswordSource.configured(passwordFile: access.passwordFile)
      .current("Current password: ")
    let opened: UnlockSlots.OpenedSlot
    do { opened = try slots.open(password: current) } catch {
      SignInNotes.refused(error, of: slots.vault)
      throw error
    }
    let source = newPasswordFile.map { PasswordSource.file($0) } ?? .terminal
    var slot = UnlockSlots.NewSlot(name: opened.slot.name)
    try slot.add(password: source.new(), cost: PasswordTime.cost())
    try slots.add(slot, for: opened.key, inPlaceOf: opened.slot)
    // Said first: the old password opens nothing any more, also where the vault does not open to note that.
    Terminal.writeLine("The password of this machine is changed. The 24 words stay what they are.")
    try note(in: copy, key: opened.key)
  }

  private func note(in copy: VaultCopy, key: borrowing DeviceUnlockKey) throws(VaultError) {
    do {
      let vault = try Vault.open(
        copy, key: key, options: OpenOptions(acceptRollback: access.acceptRollback))
      vault.audit.note(.password)
      try vault.close()
    } catch {
      switch error {
      case .readOnly, .permission, .noSpace:
        // The vault's folder has no part in it.
        Terminal.note(
          "kinvault: The audit log does not say so: nothing can be written into the vault's folder now. The new password "
            + "counts all the same.")
      default: throw error
      }
    }
  }
}
