/// What a person may do with a member, the least first; enforced by verification.
package enum Role: Hashable, Comparable, Sendable, CaseIterable {
  /// Reads.
  case viewer
  /// Writes and reads.
  case editor
  /// Grants and revokes access, writes, reads.
  case owner
}
