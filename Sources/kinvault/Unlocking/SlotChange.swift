import SystemPackage
import Vault
import VaultCrypto
import VaultModel

/// A change of what unlocks a vault on this machine, noted in the audit log.
struct SlotChange: ~Copyable {
  let vault: VaultID
  private let slots: UnlockSlots
  private let key: DeviceUnlockKey
  private let opened: Vault

  private init(slots: UnlockSlots, key: consuming DeviceUnlockKey, opened: Vault) {
    vault = opened.id
    self.slots = slots
    self.key = key
    self.opened = opened
  }

  /// Opens the vault, to change what unlocks it.
  ///
  /// - Parameter key: What one of the ways has given just now.
  static func begin(
    folder: FilePath, key: consuming DeviceUnlockKey, access: AccessOptions
  ) throws(VaultError) -> SlotChange {
    let opened = try access.open(folder, key: key, use: .writing)
    return SlotChange(
      slots: try .find(folder: folder, stateRoot: Environment.stateRoot), key: key, opened: opened)
  }

  /// The slots that a password alone opens.
  func openedByPasswordAlone() throws(VaultError) -> [UnlockSlot] {
    try slots.all().slots.filter { $0.parts.map(\.kind) == [.password] }
  }

  func add(
    _ new: borrowing UnlockSlots.NewSlot, inPlaceOf replaced: UnlockSlot? = nil
  ) throws(VaultError) -> UnlockSlot {
    try slots.add(new, for: key, inPlaceOf: replaced)
  }

  func remove(_ slot: UnlockSlot) throws {
    try slots.remove(slot)
    do { try SlotParts(slots: slots).forget(slot) } catch {
      // It opens nothing any more.
      Terminal.note(
        "kinvault: What the keyring keeps for it is still there: \(FailureReport(error).message)")
    }
  }

  /// Notes the change, and closes the vault.
  consuming func close(detail: String) throws(VaultError) {
    opened.audit.note(.password, detail: detail)
    try opened.close()
  }
}
