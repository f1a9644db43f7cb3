import Vault
import VaultModel

/// What a remote holds of one member, as far as heads that stand there say so.
struct RemoteHoldings: Sendable {
  let heads: [OpenedHead]
  /// What they name by the counters of its writers.
  let coverage: Coverage
  /// The segments that they name.
  let segments: Set<ContentDigest>
  /// The lists of what removed devices have written that they name.
  let authored: Set<ContentDigest>

  /// Nothing where no head stands.
  init(_ heads: [OpenedHead] = []) {
    self.heads = heads
    coverage = Coverage(
      Dictionary(heads.map { ($0.device, $0.counter) }, uniquingKeysWith: { first, _ in first }))
    segments = Set(heads.flatMap(\.segments))
    authored = Set(heads.flatMap(\.head.authored))
  }
}
