import Vault
import VaultSync

extension [KnownRemote] {
  /// Syncs with each of them, whatever came of the others. A mount in the background may be syncing just then: this waits
  /// for it, since what is left undone here is lost or made known late.
  ///
  /// - Returns: What could not be reached, did not go through, or is to be looked at, in words; empty only where each of
  ///   them has what is here, and everything that it has was taken.
  func syncAll(_ vault: Vault, showsProgress: Bool) -> [String] {
    syncAll(vault, SyncOutcome.Order(showsProgress: showsProgress, waits: true))
      .flatMap(\.shortcomings)
  }

  /// Syncs with each of them, and gives what came of each.
  func syncAll(_ vault: Vault, _ order: SyncOutcome.Order) -> [SyncOutcome] {
    map { SyncOutcome.syncing($0, vault, order, others: self) }
  }
}
