import BlobStore
import VaultCrypto
import VaultModel

import struct SystemPackage.FilePath

/// Makes and opens this machine's password slot.
enum PasswordSlots {
  static func make(
    vault: VaultID, person: PersonID, device: DeviceID, deviceKeys: Sealed,
    unlockKey: borrowing DeviceUnlockKey, password: borrowing SecretBytes, cost: Argon2Cost,
    binding: Binding
  ) throws(VaultError) -> PasswordSlot {
    let salt = randomBytes(PasswordHash.saltSize)
    do throws(CryptoError) {
      let kek = try PasswordHash.derive(
        password: password, salt: salt, cost: cost, person: person, device: device,
        binding: binding)
      return PasswordSlot(
        vault: vault, person: person, device: device, salt: salt, passes: cost.passes,
        memoryKiB: cost.memoryKiB, wrappedUnlockKey: unlockKey.wrap(under: kek),
        deviceKeys: deviceKeys)
    } catch {
      throw .crypto(error)
    }
  }

  /// - Throws: `wrongPassword`; `damagedSlot` when its costs are out of range.
  static func open(
    _ slot: PasswordSlot, password: borrowing SecretBytes, binding: Binding, path: String
  ) throws(VaultError) -> DeviceUnlockKey {
    let cost = Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
    let kek: PasswordKEK
    do throws(CryptoError) {
      kek = try PasswordHash.derive(
        password: password, salt: slot.salt, cost: cost, person: slot.person,
        device: slot.passwordDevice ?? slot.device, binding: binding)
    } catch {
      if case .costOutOfRange = error {
        throw .damagedSlot(path: path, reason: "\(error)")
      }
      throw .crypto(error)
    }
    do { return try DeviceUnlockKey.unwrap(slot.wrappedUnlockKey, under: kek) } catch {
      // The checksum was right, so the slot is as it was written: it is the password.
      throw .wrongPassword
    }
  }
}

extension Vault {
  /// What `vault.json` says.
  ///
  /// - Throws: `notAVault`, `unsupported`.
  package static func describe(folder: FilePath) throws(VaultError) -> VaultDescription {
    let store: DirectoryStore
    do { store = try DirectoryStore(opening: folder) } catch {
      throw .notAVault(folder: folder.string)
    }
    return try describe(store: store, folder: folder.string)
  }

  static func describe(store: any LocalStore, folder: String) throws(VaultError) -> VaultDescription
  {
    let path = BlobPath(VaultPath.vault.string)
    let bytes: [UInt8]
    do { bytes = try store.read(path, limit: 4096) } catch {
      switch error {
      case .notFound: throw .notAVault(folder: folder)
      default: throw VaultError(error)
      }
    }
    do { return try VaultDescription(decoding: bytes) } catch {
      if case .unsupported(let what, let found, let supported) = error {
        throw .unsupported(what: what, found: found, supported: supported)
      }
      throw VaultError(error, path: path.string)
    }
  }

  /// The key that the password opens on this machine.
  ///
  /// Takes as long as the slot's Argon2id cost says.
  ///
  /// - Throws: `wrongPassword`, `damagedSlot`, `noDeviceHere`, `notAVault`.
  package static func unlock(
    folder: FilePath, stateRoot: FilePath, password: borrowing SecretBytes
  ) throws(VaultError) -> DeviceUnlockKey {
    let id = try describe(folder: folder).vault
    let state = try StateFolder(root: stateRoot, vault: id)
    return try unlock(id: id, state: state, password: password)
  }

  static func unlock(
    id: VaultID, state: StateFolder, password: borrowing SecretBytes
  ) throws(VaultError) -> DeviceUnlockKey {
    let slot = try state.loadSlot(vault: id)
    return try PasswordSlots.open(
      slot, password: password, binding: Binding(vault: id), path: state.describe("slot"))
  }

  /// Wraps this machine's unlock key under a new password; nothing else changes.
  package static func changePassword(
    folder: FilePath, stateRoot: FilePath, unlockKey: borrowing DeviceUnlockKey,
    newPassword: borrowing SecretBytes, cost: Argon2Cost
  ) throws(VaultError) {
    let id = try describe(folder: folder).vault
    let state = try StateFolder(root: stateRoot, vault: id)
    let slot = try state.loadSlot(vault: id)
    let binding = Binding(vault: id)
    // A key that does not open the slot's device keys must not replace the one that does.
    _ = try unlockKey.sealingKey(binding: binding).openDeviceKeys(
      of: slot, path: state.describe("slot"))
    try state.storeSlot(
      try PasswordSlots.make(
        vault: id, person: slot.person, device: slot.device, deviceKeys: slot.deviceKeys,
        unlockKey: unlockKey, password: newPassword, cost: cost, binding: binding))
  }

  /// Whether the key is the one that this machine's slot was made with.
  ///
  /// - Throws: `noDeviceHere`, `damagedSlot`, `notAVault`.
  package static func isUnlockKey(
    _ key: borrowing DeviceUnlockKey, folder: FilePath, stateRoot: FilePath
  ) throws(VaultError) -> Bool {
    let id = try describe(folder: folder).vault
    let state = try StateFolder(root: stateRoot, vault: id)
    let slot = try state.loadSlot(vault: id)
    do throws(VaultError) {
      _ = try key.sealingKey(binding: Binding(vault: id)).openDeviceKeys(
        of: slot, path: state.describe("slot"))
      return true
    } catch {
      // The password is asked for then, and unlocking says what is wrong with the slot.
      return false
    }
  }

  /// Whose vault this machine's slot opens, without unlocking it.
  package static func slotOwner(
    folder: FilePath, stateRoot: FilePath
  ) throws(VaultError) -> (person: PersonID, device: DeviceID, cost: Argon2Cost) {
    let id = try describe(folder: folder).vault
    let slot = try StateFolder(root: stateRoot, vault: id).loadSlot(vault: id)
    return (
      slot.person, slot.device, Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
    )
  }
}
