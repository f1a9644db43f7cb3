/// Why bytes are not the value that they should be.
///
/// No case carries decrypted text; names of fields and plain numbers only.
package enum ModelError: Error, Hashable, Sendable {
  /// The bytes of `what` break the format.
  case malformed(what: String, reason: String)
  /// What is there is of a version, suite or kind that this program does not know: `what` says of which it is, as in
  /// “a vault of format version”, without `found`.
  case unsupported(what: String, found: String, supported: String)
  /// `what` is larger than `Docs/Format.md` section 12 allows.
  case limit(what: String, found: Int, limit: Int)
}

extension ModelError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformed(let what, let reason): "\(what) is malformed: \(reason)"
    case .unsupported(let what, let found, let supported):
      "this is \(what) \(found), and this program knows \(supported)"
    case .limit(let what, let found, let limit): "\(what) is \(found), and at most \(limit) may be"
    }
  }
}
