import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// Why a sync of a remote came to nothing, or not to its end. What was moved until then stays, and need not be moved
/// again.
package enum SyncError: Error {
  /// The remote did not do what it was asked.
  case remote(BlobStoreError)
  /// What is here could not be read or written.
  case vault(VaultError)
  /// The remote holds another vault.
  case otherVault(found: VaultID)
  /// The remote holds a vault of a kind that this version does not know, or something that only looks like one.
  case notThisVault(reason: String)
  /// There are files on the remote, and no vault.
  case notEmpty(example: String)
  /// Nothing is there, though the remote has held this vault.
  case emptied(remote: RemoteName)
  /// There is no vault on the remote to get.
  case noVault
  /// There are more bytes of people on the remote than this machine takes unverified, and nobody among those that it takes.
  case tooManyPeople(fileCount: Int)
  /// The remote's list of people does not end, and nobody in it can be looked for by name.
  case crowdedPeople
  /// Another process syncs this remote right now.
  case busy

  /// What happened and what to do next, for a person.
  package var message: String {
    switch self {
    case .remote(let error): "The remote failed: \(error.shortMessage)."
    case .vault(let error): error.message
    case .otherVault(let found):
      "The remote holds another vault (\(found.shortHex)). Nothing was read or written. "
        + "Give this vault a folder or bucket of its own."
    case .notThisVault(let reason):
      "The remote's vault.json is not this vault's: \(reason). Nothing was written."
    case .notEmpty(let example):
      "The remote is not empty and holds no vault: “\(example)” is there. "
        + "Give the vault an empty folder or bucket."
    case .emptied(let remote):
      "The remote is empty, and held this vault before. Is this the right disk, and is it plugged in? Nothing was written. "
        + "If it is meant, begin anew there: kinvault remote remove \(remote), and then kinvault remote add \(remote) ADDRESS"
    case .noVault: "There is no vault on the remote."
    case .tooManyPeople(let count):
      "The remote shows \(count) files of people, which are more than 64 MiB: no family has so many. Of those that "
        + "were looked at none makes anybody known. Somebody who can write there may have put them there. Take away what is "
        + "not yours from its folder people, or clone another copy of the vault. Nothing was written here."
    case .crowdedPeople:
      "The remote's list of people does not end: somebody has put very many files or folders into its folder people, and "
        + "this machine knows nobody yet whom it could find among them. Tell whoever runs the remote: they take out of that "
        + "folder what is no person of the vault. Who is one, by the first digits of their folder, a machine that has the "
        + "vault says: kinvault people list --all. Or clone from another remote, or from a copy of the vault's folder. Nothing was written here."
    case .busy: "Another program is syncing this remote right now."
    }
  }
}

/// What a call of the remote gives.
func asking<Value>(
  _ value: @autoclosure () throws(BlobStoreError) -> Value
) throws(SyncError) -> Value {
  do { return try value() } catch { throw .remote(error) }
}

/// What a call of the vault gives.
func keeping<Value>(
  _ value: @autoclosure () throws(VaultError) -> Value
) throws(SyncError) -> Value {
  do { return try value() } catch { throw .vault(error) }
}

/// Runs calls of the remote.
func asking<Value>(_ body: () throws(BlobStoreError) -> Value) throws(SyncError) -> Value {
  do { return try body() } catch { throw .remote(error) }
}

/// Runs calls of the vault.
func keeping<Value>(_ body: () throws(VaultError) -> Value) throws(SyncError) -> Value {
  do { return try body() } catch { throw .vault(error) }
}

extension BlobStoreError {
  /// Whether the failure concerns this one file, so that everything else may go on.
  var concernsOneFile: Bool {
    switch self {
    case .notFound, .tooLarge, .notABlob, .invalidPath, .garbled, .endlessListing: true
    case .io(_, let errno): errno == 5
    default: false
    }
  }
}

extension VaultError {
  /// The file of the vault that it is about, where it is about one.
  package var file: String? {
    switch self {
    case .damaged(let path, _), .missing(let path), .gone(let path, _): path
    default: nil
    }
  }
}
