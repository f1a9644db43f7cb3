import BlobStore
import Vault
import VaultModel

/// What of a vault is at hand without its keys: its folder, and what this machine knows.
struct SyncHome: Sendable {
  let id: VaultID
  /// The vault's own folder.
  let store: any BlobStore
  let state: StateFolder
  let clock: WallClock
  /// Whose this machine's device is.
  let person: PersonID
  private let currentDevice: @Sendable () -> DeviceID

  /// This machine's own, which may become another one.
  var device: DeviceID { currentDevice() }
}

extension SyncHome {
  init(_ vault: Vault) {
    self.init(
      id: vault.id, store: vault.store, state: vault.state, clock: vault.clock,
      person: vault.person, currentDevice: { vault.device })
  }
}

extension SyncHome {
  /// A vault whose keys are not needed.
  ///
  /// - Throws: `vault` when this machine has no device in it.
  init(
    locked vault: VaultID, folder: any BlobStore, state: StateFolder, clock: WallClock
  ) throws(SyncError) {
    let owner = try keeping { () throws(VaultError) in try state.owner(in: vault) }
    self.init(
      id: vault, store: folder, state: state, clock: clock, person: owner.person,
      currentDevice: { owner.device })
  }
}
