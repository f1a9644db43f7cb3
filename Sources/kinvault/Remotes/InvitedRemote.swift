import BlobStore
import MachineState
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultSync

/// The remote that an invitation names, on the machine of the one who joins.
struct InvitedRemote {
  private let invitation: Invitation
  private let known: KnownRemote

  /// Shows the address, and asks whether to go there; then for what proves who this person is there, if that is needed and
  /// was not said.
  ///
  /// - Parameter isConfirmed: Whether the person has said yes to the address beforehand.
  /// - Throws: `usage` for an address that is none, or that nobody else may name; `refused` when it is the vault's own
  ///   folder, or the person says no.
  static func ask(
    _ invitation: Invitation, name: RemoteName, place: RemotePlace, folder: FilePath,
    isConfirmed: Bool
  ) throws -> InvitedRemote {
    let (address, password) = try place.parse(invitation.remote)
    Terminal.note("The invitation names a copy of the vault at \(Terminal.visible(address.text)).")
    do {
      try address.requireHarmless(hasLogin: place.user != nil)
    } catch {
      throw CommandError.usage(
        "That address is not taken from somebody else: \(error.message). If you know the place and want to use it, join "
          + "without it (--no-remote), and add it yourself: kinvault remote add NAME ADDRESS")
    }
    if case .directory(let place) = address { try RemotePlace.requireApart(place, from: folder) }
    // Before anything is asked for or opened: whoever wrote the invitation chose the place.
    try Confirmation.require(
      "Is that where you expect it, and shall it be opened?", isGiven: isConfirmed)
    let known = try KnownRemote(
      RemoteConfiguration(
        name: name, address: address.text, created: FileTimestamp.now.milliseconds),
      login: place.login(for: address, password: password))
    return InvitedRemote(invitation: invitation, known: known)
  }

  /// Fetches the vault's people into a folder that is empty or missing; one that holds the vault by other means stays as
  /// it is. Nothing is written, here or there, before the remote was found to hold the vault of the invitation.
  ///
  /// - Throws: `notFound` where there is no vault yet; `refused` where it is another one.
  func fetchPeople(into folder: FilePath) throws {
    let store = try store()
    guard try vault(at: store) == invitation.vault else {
      throw CommandError.refused(
        "At \(Terminal.visible(invitation.remote)) is another vault than the one that you are invited to. Nothing was "
          + "fetched. Ask the one who invited you.")
    }
    do {
      // Joining says if it is another one.
      _ = try Vault.describe(folder: folder)
      return
    } catch {
      guard case .notAVault = error else { throw error }
    }
    let beginning = try VaultClone.begin(
      from: store, into: folder, knowing: [invitation.inviter])
    for problem in beginning.problems {
      Terminal.note(
        "kinvault: \(Terminal.visible(problem.path)): \(Terminal.visible(problem.text))")
    }
  }

  private func vault(at store: any BlobStore) throws -> VaultID {
    do { return try VaultClone.description(of: store).vault } catch {
      guard case .noVault = error else { throw error }
      throw CommandError.notFound(
        "There is no vault at \(Terminal.visible(invitation.remote)) yet: the one who invited you has to sync with it "
          + "first. Or do without it: --no-remote")
    }
  }

  /// The store, with a failure to open it in the words of a sync.
  private func store() throws(SyncError) -> any BlobStore {
    do { return try known.open() } catch { throw .remote(error) }
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
    let vault = try Vault.open(.here(in: folder), key: key)
    let outcome = SyncOutcome.syncing(
      known, vault, SyncOutcome.Order(showsProgress: true), others: [])
    try vault.close()
    return outcome
  }
}
