import ArgumentParser
import Vault
import VaultCrypto
import VaultModel

/// What is asked of a machine that becomes a device: a password of its own, and a name.
struct NewDeviceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Take this machine's password from this file.", valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Option(
    help: ArgumentHelp("What this machine is called. Default: its host name.", valueName: "name"))
  var device: NameArgument?

  func validate() throws {
    // Before somebody has typed a password and words.
    do { _ = try PasswordTime.target() } catch {
      throw ValidationError(FailureReport(error).message)
    }
  }

  /// The password that the machine is to have, from the file or asked for twice.
  func newPassword() throws -> SecretBytes {
    try PasswordSource.configured(passwordFile: passwordFile).new()
  }

  /// Keeps the vault unlocked for the usual time if the password was typed: one from a file or a command unlocks for that
  /// one command.
  ///
  /// - Returns: Whether it was typed.
  @discardableResult
  func keepUnlocked(_ key: borrowing DeviceUnlockKey, vault: VaultID) -> Bool {
    guard case .terminal = PasswordSource.configured(passwordFile: passwordFile) else {
      return false
    }
    SessionKeys.keep(key, vault: vault)
    return true
  }

  /// The machine, with a password cost measured on it.
  ///
  /// - Parameter person: What its person calls themself, where it is their first one; the account's name by default.
  func machine(of person: String? = nil) throws -> NewDevice {
    let cost = try PasswordTime.cost()
    return NewDevice(
      personName: person ?? Environment.userName, deviceName: device?.text ?? Environment.hostName,
      deviceKind: "computer", passwordCost: cost, recoveryCost: cost)
  }
}
