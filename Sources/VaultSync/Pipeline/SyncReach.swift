import Vault
import VaultErrors

/// How far into a vault a sync can reach, with what it needs for that. Everything else about a sync is the same.
package enum SyncReach {
  /// To its signed files, and to the heads of members where something was committed here. That costs the same however
  /// many records there are, and is all that most syncs need; where more is to be done, or may be, it is not enough.
  case heads(VaultCopy, opening: HeadsOpening)
  /// To its signed files: the vault is locked, so what is encrypted is carried, and joined by the next sync with the keys.
  case locked(VaultCopy)
  /// To everything that this person can read.
  case open(Vault)

  /// Opens the vault as far as its heads; nil when it has to be opened whole.
  package typealias HeadsOpening = () throws(VaultError) -> VaultHeads?

  var kind: Kind {
    switch self {
    case .heads: .heads
    case .locked: .locked
    case .open: .open
    }
  }

  enum Kind: Hashable, CaseIterable, Sendable {
    case heads
    case locked
    case open
  }
}
