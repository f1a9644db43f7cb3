import VaultModel

/// Which of two statements at one path counts, both of which hold: the greater one, and of equals the one whose file
/// has the greater hash. Docs/Format.md, "Two grants at one path" and "Leaving".
package struct StatementRank: Hashable, Comparable, Sendable {
  private let parts: [UInt64]

  /// Of a grant: the stronger role, then the later end, then the giver who is nearer to whoever began the epoch.
  ///
  /// The first grant of an epoch is above all others. Roles never fall by this, so that what an owner has begun stays
  /// valid; and nobody can put themself between an owner and the one from whom that owner has the access.
  init(_ grant: GrantBody, in epochs: EpochTree) {
    let end = grant.role == .owner || grant.until == 0 ? UInt64.max : grant.until
    let role = Role.allCases.firstIndex(of: grant.role) ?? 0
    let distance = epochs.distance(of: grant.giver, in: grant.epoch)
    parts = [grant.isFirst ? 1 : 0, UInt64(role), end, UInt64(Int.max - distance)]
  }

  /// Of a leaving: the one that keeps less.
  init(_ leaving: LeavingBody) { parts = [UInt64(Role.allCases.count - leaving.keptRank)] }

  package static func < (one: Self, other: Self) -> Bool {
    one.parts.lexicographicallyPrecedes(other.parts)
  }
}
