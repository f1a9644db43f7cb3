import ArgumentParser
import SystemPackage
import Vault
import VaultCrypto

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
    let folder = try access.folderOptions.folder()
    let current = try PasswordSource.configured(passwordFile: access.passwordFile)
      .current("Current password: ")
    let key = try Vault.unlock(folder: folder, stateRoot: Environment.stateRoot, password: current)
    let source = newPasswordFile.map { PasswordSource.file($0) } ?? .terminal
    let password = try source.new()
    try Vault.changePassword(
      folder: folder, stateRoot: Environment.stateRoot, unlockKey: key, newPassword: password,
      cost: .calibrated())
    try note(folder: folder, key: key)
    Terminal.writeLine("The password of this machine is changed. The 24 words stay what they are.")
  }

  private func note(
    folder: FilePath, key: borrowing DeviceUnlockKey
  ) throws {
    let vault = try Vault.open(
      folder: folder, stateRoot: Environment.stateRoot, key: key,
      options: OpenOptions(acceptRollback: access.acceptRollback))
    vault.audit.note(.password)
    try vault.close()
  }
}
