import SystemPackage
import Vault
import VaultCrypto
import VaultModel

/// An unlocked vault that is opened when it is first needed: opening reads the list of all records.
final class DeferredVault {
  let folder: FilePath
  let unlocked: UnlockedKey
  private let access: AccessOptions
  private let use: VaultUse
  private let namesFallen: Bool
  private var vault: Vault?

  init(
    folder: FilePath, unlocked: consuming UnlockedKey, access: AccessOptions, use: VaultUse,
    namesFallen: Bool
  ) {
    self.folder = folder
    self.unlocked = unlocked
    self.access = access
    self.use = use
    self.namesFallen = namesFallen
  }

  var id: VaultID { get throws { try Vault.describe(folder: folder).vault } }

  /// Whether nobody has opened it, and nothing asks for it: that a password was used is noted in the vault.
  var mayStayClosed: Bool { vault == nil && unlocked.way == nil }

  /// The open vault, the same each time.
  func opened() throws -> Vault {
    if let vault { return vault }
    let opened = try access.open(folder, unlocked, use, namesFallen: namesFallen)
    vault = opened
    try LazyAccess.prepareIfLazy(opened, key: unlocked.key)
    return opened
  }

  /// Tells what only people can settle and may have come just now, if the vault was opened; what they are offered, once.
  func tellWhatPeopleSettle() throws {
    guard let vault else { return }
    for invitation in try vault.contestedInvitations() {
      Terminal.note("kinvault: \(invitation.text)")
    }
    for line in try PlaceOffers.load(of: vault, vault.untoldOffers()).lines {
      Terminal.note("kinvault: \(line)")
    }
  }

  /// Closes the vault if it was opened.
  func close() throws {
    try vault?.close()
    vault = nil
  }
}
