import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// A change of what unlocks a vault on this machine, noted in the audit log.
struct SlotChange: ~Copyable {
  let vault: VaultID
  private let slots: UnlockSlots
  private let way: UnlockSlots.OpenedSlot
  private let opened: Vault

  private init(slots: UnlockSlots, way: consuming UnlockSlots.OpenedSlot, opened: Vault) {
    vault = opened.id
    self.slots = slots
    self.way = way
    self.opened = opened
  }

  /// Opens the vault, to change what unlocks it.
  ///
  /// - Parameter way: One of the ways, which was opened just now.
  static func begin(
    folder: FilePath, by way: consuming UnlockSlots.OpenedSlot, access: AccessOptions
  ) throws(VaultError) -> SlotChange {
    let opened = try access.open(folder, key: way.key, use: .writing)
    return SlotChange(
      slots: UnlockSlots(of: try .here(in: folder)), way: way, opened: opened)
  }

  /// The slots that a password alone opens.
  func openedByPasswordAlone() throws(VaultError) -> [UnlockSlot] {
    try slots.all().slots.filter { $0.parts.map(\.kind) == [.password] }
  }

  /// The others.
  func openedOtherwise() throws(VaultError) -> [UnlockSlot] {
    try slots.all().slots.filter { $0.parts.map(\.kind) != [.password] }
  }

  func add(
    _ new: borrowing UnlockSlots.NewSlot, inPlaceOf replaced: UnlockSlot? = nil
  ) throws(VaultError) -> UnlockSlot {
    try slots.add(new, for: way.key, inPlaceOf: replaced)
  }

  /// Removes a slot.
  ///
  /// - Parameter added: What was added before, in whose place this is to go; nil where the way that was opened stays.
  /// - Throws: `lastSlot`.
  func remove(_ slot: UnlockSlot, leaving added: UnlockSlot? = nil) throws {
    try slots.remove(slot, leaving: added ?? way.slot)
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
