import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What of a vault is at hand without its keys: its folder, and what this machine knows.
struct SyncHome: Sendable {
  let copy: VaultCopy
  /// Whose this machine's device is.
  let person: PersonID
  /// For whom they vouch; nil where nobody's files are to be left.
  let vouching: Vouching?
  /// Which of the people with these introductions answer an invitation of theirs, by invitation; nobody without the keys.
  let answers: @Sendable ([PersonID: [UInt8]]) throws(VaultError) -> [[PersonID]]
  /// Whether a file is the request of a machine for which this process waits; nil where it waits for none.
  let isAwaited: (@Sendable (VaultPath, [UInt8]) -> Bool)?
  /// Tells which wraps for this machine's device hold; nobody can without the keys.
  private let opener: WrapOpener?
  private let currentDevice: @Sendable () -> DeviceID

  var id: VaultID { copy.id }
  /// The vault's own folder.
  var store: any BlobStore { copy.store }
  var state: StateFolder { copy.state }
  var clock: WallClock { copy.clock }

  /// This machine's own, which may become another one.
  var device: DeviceID { currentDevice() }

  /// Whether it is a head of a device that this machine was before it became one of its own: what it does not know under that
  /// one's key it may have written itself, before it was put back to an earlier state.
  func wasDevice(of path: VaultPath, _ tree: SignedTree) -> Bool {
    guard case .head(_, let former) = path else { return false }
    return tree.hasBecome(device, from: former, of: person)
  }

  /// Whether it is a wrap for another device, of this person's or of somebody for whom they vouch: only that device can tell
  /// whether it is right.
  func isWrapOfAnother(_ path: VaultPath) -> Bool {
    guard case .wrap(let owner, _, let other) = path, other != device else { return false }
    return owner == person || vouching?.people.contains(owner) ?? false
  }

  /// The signed files of the folder as they stand now.
  func tree() throws(SyncError) -> SignedTree {
    try keeping(SignedTree.load(vault: id, store: store, state: state, opener: opener))
  }
}

extension SyncHome {
  init(_ vault: Vault, vouching: Vouching?) {
    var isAwaited: (@Sendable (VaultPath, [UInt8]) -> Bool)?
    if vault.awaitsRequests { isAwaited = { vault.isAwaited($0, $1) } }
    self.init(
      copy: vault.copy, person: vault.person, vouching: vouching,
      answers: { (introductions) throws(VaultError) in try vault.answers(in: introductions) },
      isAwaited: isAwaited,
      opener: vault.wrapOpener, currentDevice: { vault.device })
  }
}

extension SyncHome {
  /// A vault whose keys are not needed.
  ///
  /// - Throws: `vault` when this machine has no device in it.
  static func closed(_ copy: VaultCopy) throws(SyncError) -> SyncHome {
    let owner = try keeping(copy.state.owner(in: copy.id))
    // Where no process with the keys has said it yet, nobody is known but this person themself: everything else waits for
    // a sync with the keys.
    let vouching =
      try keeping(copy.state.loadVouching(of: owner.person))
      ?? Vouching(own: owner.person, people: [], members: [])
    return SyncHome(
      copy: copy, person: owner.person, vouching: vouching,
      answers: { (_) throws(VaultError) in [] }, isAwaited: nil, opener: nil,
      currentDevice: { owner.device })
  }
}
