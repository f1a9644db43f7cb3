/// Why a file of the vault does not count as it stands. As text, words that go on after its path.
package enum Flaw: Hashable, Sendable {
  /// It is not what it must be, such as "it belongs elsewhere".
  case broken(String)
  /// Nothing of it has to be mended: it counts once this is true, such as "its link has come".
  case waiting(until: String)
  /// Of a member's root: its device was left out by its person, and no closing lists it. They can have it count again where it
  /// counted before.
  case unlisted(countedHere: Bool)
}

extension Flaw: CustomStringConvertible {
  package var description: String {
    switch self {
    case .broken(let reason): reason
    case .waiting(let condition): "it counts once \(condition)"
    case .unlisted(countedHere: true):
      "it was made on a device that has been removed since, so it counts no more. It is kept here. Whoever removed the device "
        + "can bring it back, on a machine that had shown it: kinvault member keep"
    case .unlisted(countedHere: false):
      "it was made on a device that has been removed, and never counted on this machine. Whoever removed the device can bring "
        + "it back, on a machine that had shown it: kinvault member keep"
    }
  }
}

/// A text says what is broken.
extension Flaw: ExpressibleByStringInterpolation {
  package init(stringLiteral reason: String) { self = .broken(reason) }
}
