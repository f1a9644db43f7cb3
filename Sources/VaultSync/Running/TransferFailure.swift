import Vault
import VaultErrors

/// Why an object was not brought.
enum TransferFailure: Error {
  /// This one cannot be had, or is not what it should be; others may.
  case object(VaultError)
  /// Nothing more can be done.
  case fatal(SyncError)
}
