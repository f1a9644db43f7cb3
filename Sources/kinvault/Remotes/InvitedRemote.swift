import BlobStore
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto
import VaultModel
import VaultSync

/// The remote that an invitation names, on the machine of the one who joins.
struct InvitedRemote {
  private let invitation: Invitation
  private let known: KnownRemote

  /// Asks for what proves who this person is there, if that is needed and was not said.
  ///
  /// - Throws: `usage` for an address that is none, or that nobody else may name, or a folder that is not a whole path;
  ///   `refused` when it is the vault's own folder.
  init(
    _ invitation: Invitation, name: RemoteName, place: RemotePlace, folder: FilePath
  ) throws {
    self.invitation = invitation
    let (address, password) = try place.parse(invitation.remote)
    // Before anything is asked: whose secret it is that is asked for depends on it.
    Terminal.note("The invitation names a copy of the vault at \(Terminal.visible(address.text)).")
    try address.requireHarmless(hasLogin: place.user != nil)
    if case .directory(let place) = address { try RemotePlace.requireApart(place, from: folder) }
    known = try KnownRemote(
      RemoteConfiguration(
        name: name, address: address.text, created: FileTimestamp.now.milliseconds),
      login: place.login(for: address, password: password))
  }

  /// Fetches the vault's people into a folder that is empty or missing.
  ///
  /// - Throws: `notFound` where there is no vault yet; `refused` where it is another one.
  func fetchPeople(into folder: FilePath) throws {
    do throws(VaultError) {
      // A copy of the vault came by other means. Joining says if it is another one.
      _ = try Vault.describe(folder: folder)
      return
    } catch {
      guard case .notAVault = error else { throw error }
    }
    let beginning: VaultClone.Beginning
    do throws(SyncError) {
      beginning = try VaultClone.begin(from: store(), into: folder)
    } catch {
      guard case .noVault = error else { throw error }
      throw CommandError.notFound(
        "There is no vault at \(Terminal.visible(invitation.remote)) yet: the one who invited you has to sync with it "
          + "first. Or do without it: --no-remote")
    }
    guard beginning.vault == invitation.vault else {
      throw CommandError.refused(
        "At \(Terminal.visible(invitation.remote)) is another vault than the one that you are invited to. What was fetched "
          + "is in \(Terminal.visible(folder.string)), and can be deleted. Ask the one who invited you."
      )
    }
    for problem in beginning.problems {
      Terminal.note(
        "kinvault: \(Terminal.visible(problem.path)): \(Terminal.visible(problem.text))")
    }
  }

  /// The store, with a failure to open it in the words of a sync.
  private func store() throws(SyncError) -> any BlobStore {
    do throws(BlobStoreError) { return try known.open() } catch { throw .remote(error) }
  }

  /// Adds it to the remotes of this machine, its login sealed with this machine's key.
  func add(unlockKey key: borrowing DeviceUnlockKey) throws {
    var configuration = known.configuration
    configuration.credentials = known.login?.sealed(
      for: known.name, vault: invitation.vault, with: key)
    try RemoteRegistry.here(vault: invitation.vault).add(configuration)
  }

  /// Syncs, which puts there who joined, and brings the members as the ciphertext that they are.
  func answer(folder: FilePath, unlockKey key: borrowing DeviceUnlockKey) throws -> SyncOutcome {
    let vault = try Vault.open(folder: folder, stateRoot: Environment.stateRoot, key: key)
    let outcome = SyncOutcome(
      syncing: known, vault, SyncOptions(), others: [], showsProgress: true)
    try vault.close()
    return outcome
  }
}
