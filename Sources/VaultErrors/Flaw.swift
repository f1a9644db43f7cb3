/// Why a file of the vault does not count as it stands. As text, words that go on after its path.
package enum Flaw: Hashable, Sendable {
  /// It is not what it must be, such as "it belongs elsewhere".
  case broken(String)
  /// Nothing of it has to be mended: it counts once this is true, such as "its link has come".
  case waiting(until: String)
}

extension Flaw: CustomStringConvertible {
  package var description: String {
    switch self {
    case .broken(let reason): reason
    case .waiting(let condition): "it counts once \(condition)"
    }
  }
}

/// A text says what is broken.
extension Flaw: ExpressibleByStringInterpolation {
  package init(stringLiteral reason: String) { self = .broken(reason) }
}
