import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel

/// Whose machine this is, and the ways in which it unlocks the vault. Docs/Format.md, section 14.
extension StateFolder {
  package static let devicePath: BlobPath = "device"
  private static let slotsPath: BlobPath = "slots"

  /// This machine's device, with its keys sealed.
  ///
  /// - Throws: `noDeviceHere` where there is none; `damagedSlot` when the file does not decode or its checksum is wrong.
  package func loadDevice(vault: VaultID) throws(VaultError) -> DeviceFile {
    guard let device: DeviceFile = try loadChecksummed(at: Self.devicePath, vault: vault) else {
      throw .noDeviceHere(vault: vault)
    }
    return device
  }

  /// Makes this machine the device; on disk when this returns.
  package func storeDevice(_ device: DeviceFile) throws(VaultError) {
    try storeChecksummed(device, at: Self.devicePath)
  }

  /// True if this machine already has a device in the vault.
  package func hasDevice() throws(VaultError) -> Bool {
    try storing(store.size(of: Self.devicePath)) != nil
  }

  /// The slots, the oldest first, and what is wrong with those that are not whole.
  package func loadSlots(
    vault: VaultID
  ) throws(VaultError) -> (slots: [UnlockSlot], damaged: [VaultError]) {
    let names: [String]
    do { names = try store.list(Self.slotsPath).map(\.name) } catch {
      guard case .notFound = error else { throw VaultError(error) }
      names = []
    }
    var slots: [UnlockSlot] = []
    var damaged: [VaultError] = []
    for name in names.sorted() {
      // Something that a person or another program has put there.
      guard let id = UnlockSlotID(hex: name) else { continue }
      do throws(VaultError) {
        guard let slot: UnlockSlot = try loadChecksummed(at: Self.path(of: id), vault: vault)
        else { continue }
        guard slot.id == id else {
          throw .damagedSlot(path: describe(Self.path(of: id)), reason: "it is another slot")
        }
        slots.append(slot)
      } catch {
        switch error {
        case .damagedSlot, .unsupported: damaged.append(error)
        default: throw error
        }
      }
    }
    return (slots.sorted { ($0.created, $0.id) < ($1.created, $1.id) }, damaged)
  }

  /// Writes a slot; on disk when this returns.
  package func storeSlot(_ slot: UnlockSlot) throws(VaultError) {
    try storeChecksummed(slot, at: Self.path(of: slot.id))
  }

  package func removeSlot(_ id: UnlockSlotID) throws(VaultError) {
    try storing(store.remove(Self.path(of: id)))
  }

  package func describeSlot(_ id: UnlockSlotID) -> String { describe(Self.path(of: id)) }

  private static func path(of id: UnlockSlotID) -> BlobPath { slotsPath.appending(id.hex) }

  /// - Returns: Nil if the file is not there.
  private func loadChecksummed<Message: ChecksummedMessage>(
    at path: BlobPath, vault: VaultID
  ) throws(VaultError) -> Message? {
    guard let bytes = try readIfThere(path, limit: 64 << 10) else { return nil }
    let message: Message
    do { message = try Message(decoding: bytes) } catch {
      if case .unsupported(let what, let found, let supported) = error {
        throw .unsupported(what: what, found: found, supported: supported)
      }
      throw .damagedSlot(path: describe(path), reason: "\(error)")
    }
    guard message.checksum == Digest.sha256(message.encodedWithoutChecksum()) else {
      throw .damagedSlot(path: describe(path), reason: "its checksum is wrong")
    }
    guard message.vault == vault else {
      throw .damagedSlot(path: describe(path), reason: "it is for another vault")
    }
    return message
  }

  private func storeChecksummed<Message: ChecksummedMessage>(
    _ message: Message, at path: BlobPath
  ) throws(VaultError) {
    var message = message
    message.checksum = Digest.sha256(message.encodedWithoutChecksum())
    let bytes = message.encoded()
    try storing(store.replace(path, bytes, durably: true))
  }
}
