/// What a person may do with a member, the least first; enforced by verification.
package enum Role: Hashable, Comparable, Sendable, CaseIterable {
  /// Reads.
  case viewer
  /// Writes and reads.
  case editor
  /// Grants and revokes access, writes, reads.
  case owner

  init(_ message: Kinvault_V1_Role) throws(ModelError) {
    switch message {
    case .owner: self = .owner
    case .editor: self = .editor
    case .viewer: self = .viewer
    case .unspecified: throw .malformed(what: "grant", reason: "the role is missing")
    case .UNRECOGNIZED(let number):
      throw .unsupported(
        what: "the role of a grant", found: "\(number)", supported: "owner, editor, viewer")
    }
  }

  var message: Kinvault_V1_Role {
    switch self {
    case .owner: .owner
    case .editor: .editor
    case .viewer: .viewer
    }
  }
}
