import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel

/// What making a vault gives: its id, the words, and the key that unlocks this machine's device.
package final class CreatedVault: Sendable {
  package let id: VaultID
  /// Shown once, and kept nowhere.
  package let words: RecoveryWords
  package let unlockKey: DeviceUnlockKey

  init(id: VaultID, words: consuming RecoveryWords, unlockKey: consuming DeviceUnlockKey) {
    self.id = id
    self.words = words
    self.unlockKey = unlockKey
  }
}

/// How a person and their machine call themselves, and what guards their keys.
package struct NewDevice {
  package var personName: String
  package var deviceName: String
  package var deviceKind: String
  /// What a password guess costs on this machine.
  package var passwordCost: Argon2Cost
  /// What a guess of the words costs, on any machine.
  package var recoveryCost: Argon2Cost

  package init(
    personName: String, deviceName: String, deviceKind: String, passwordCost: Argon2Cost,
    recoveryCost: Argon2Cost
  ) {
    self.personName = personName
    self.deviceName = deviceName
    self.deviceKind = deviceKind
    self.passwordCost = passwordCost
    self.recoveryCost = recoveryCost
  }
}

extension Vault {
  /// Makes a vault where there is nothing yet, with its first person and device.
  ///
  /// `vault.json` is written last: a crash before that leaves no vault.
  ///
  /// - Parameter words: Seen by the person before, so that there is never a vault without words on paper.
  /// - Throws: `permission`, `readOnly`, `noSpace`, `io`.
  package static func create(
    _ copy: VaultCopy, device new: NewDevice, password: borrowing SecretBytes,
    words: consuming RecoveryWords = .random()
  ) throws(VaultError) -> CreatedVault {
    let made = try PersonCreation(copy: copy).run(new, password: password, words: words)
    let description = VaultDescription(vault: copy.id)
    try storing(
      copy.store.replace(BlobPath(VaultPath.vault.string), description.encoded(), durably: true))
    return CreatedVault(id: copy.id, words: words, unlockKey: made.unlockKey)
  }
}
