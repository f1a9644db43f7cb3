import Vault
import VaultSync

extension [KnownRemote] {
  /// Syncs with each of them, whatever came of the others.
  ///
  /// - Returns: What could not be reached, or did not go through, in words.
  func syncAll(_ vault: Vault, showsProgress: Bool) -> [String] {
    syncAll(vault, SyncOutcome.Order(showsProgress: showsProgress)).compactMap { outcome in
      outcome.error.map { "\(outcome.remote): \($0)" }
    }
  }

  /// The same; what came of each.
  func syncAll(_ vault: Vault, _ order: SyncOutcome.Order) -> [SyncOutcome] {
    map { SyncOutcome.syncing($0, vault, order, others: self) }
  }
}
