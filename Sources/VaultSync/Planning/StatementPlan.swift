import Vault
import VaultModel

/// What a sync does with one statement, a file that is written once. Docs/Sync.md, "Statements".
package enum StatementPlan: Hashable, Sendable {
  /// Both have it.
  case leave
  /// The remote has it alone, or has the one of two that counts.
  case take
  /// The other way round.
  case put
  /// Both have a file of this name, and the files differ: one of them is damaged or planted. The one here, which
  /// was verified, stays.
  case differ

  /// - Parameters:
  ///   - local: What is here, verified.
  ///   - remote: What the remote has, if it was read and verified now.
  ///   - remoteHash: The same, or what it is remembered to have.
  package init(local: SignedFacts?, remote: SignedFacts?, remoteHash: FileHash?) {
    switch (local, remoteHash) {
    case (nil, nil): self = .leave
    case (nil, .some): self = .take
    case (.some, nil): self = .put
    case (let local?, let hash?):
      if local.hash == hash {
        self = .leave
      } else if let remote, remote.outranks(local) {
        self = .take
      } else if let remote, local.outranks(remote) {
        self = .put
      } else {
        self = .differ
      }
    }
  }
}
