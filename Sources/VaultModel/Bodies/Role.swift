/// What a person may do with a member, the least first; enforced by verification.
package enum Role: Hashable, Comparable, Sendable, CaseIterable {
  /// Reads.
  case viewer
  /// Writes and reads.
  case editor
  /// Grants and revokes access, writes, reads.
  case owner

  /// Whether what somebody with this role writes counts.
  package var mayWrite: Bool { self >= .editor }
}
