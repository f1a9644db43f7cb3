import VaultCrypto
import VaultObjects

/// What a doorbell is listened to under: Docs/Sync.md, "Doorbell".
extension Vault {
  /// One topic for each member that this person reads, as its epoch is now; in an order that stays.
  package var doorbellTopics: [String] {
    members.map(\.register.keys.current.doorbellTopic).sorted()
  }
}
