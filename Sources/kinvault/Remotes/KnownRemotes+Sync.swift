import Vault
import VaultSync

extension [KnownRemote] {
  /// Syncs with each of them, whatever came of the others.
  ///
  /// - Returns: What could not be reached, or did not go through, in words.
  func syncAll(_ vault: Vault, showsProgress: Bool) -> [String] {
    compactMap { known in
      let outcome = SyncOutcome.syncing(
        known, vault, SyncOutcome.Order(showsProgress: showsProgress), others: self)
      return outcome.failure.map { "\(known.name): \(FailureReport($0).message)" }
    }
  }
}
