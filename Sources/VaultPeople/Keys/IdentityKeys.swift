import Threads
import VaultCrypto
import VaultModel

/// This person's agreement keys of every generation whose master key could be had, by the closing that opened it.
package struct IdentityKeys: Sendable {
  /// A key shared between copies of this value.
  final class Shared: Sendable {
    let key: AgreementKey
    init(_ key: consuming AgreementKey) { self.key = key }
  }

  private var keys: [StatementID: Shared] = [:]

  mutating func add(_ key: consuming AgreementKey, generation: StatementID) {
    keys[generation] = Shared(key)
  }

  package func has(_ generation: StatementID) -> Bool { keys[generation] != nil }

  subscript(generation: StatementID) -> Shared? { keys[generation] }

  /// To unwrap with, for as long as an opening takes.
  package func expanded() -> ExpandedIdentities { ExpandedIdentities(self) }
}

/// A person's identity keys while an opening unwraps keys with them: each is expanded when it is needed first, and once.
///
/// Not to be kept longer than that: what is expanded stands in ordinary memory.
package final class ExpandedIdentities: Sendable {
  private let identities: IdentityKeys
  private let expanded = Guarded<[StatementID: ExpandedAgreementKey]>([:])

  init(_ identities: IdentityKeys) { self.identities = identities }

  package func has(_ generation: StatementID) -> Bool { identities.has(generation) }

  package subscript(generation: StatementID) -> ExpandedAgreementKey? {
    guard let shared = identities[generation] else { return nil }
    return expanded.withLock { expanded in
      if let known = expanded[generation] { return known }
      let new = shared.key.expanded()
      expanded[generation] = new
      return new
    }
  }
}
