import Vault
import VaultModel

/// What a sync does with one statement, a file that is written once. Docs/Sync.md, "The rules".
package enum StatementPlan: Hashable, Sendable {
  /// Both have it.
  case leave
  /// The remote has it alone.
  case take
  /// The other way round.
  case put
  /// Both have a file of this name, and the files differ: one of them is damaged or planted. The one here, which
  /// was verified, stays.
  case differ

  /// - Parameters:
  ///   - local: What is here, verified.
  ///   - remoteHash: What the remote has, or is remembered to have.
  package init(local: SignedFacts?, remoteHash: FileHash?) {
    switch (local, remoteHash) {
    case (nil, nil): self = .leave
    case (nil, .some): self = .take
    case (.some, nil): self = .put
    case (let local?, let hash?):
      self = local.hash == hash ? .leave : .differ
    }
  }
}
