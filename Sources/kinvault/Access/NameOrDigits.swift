/// What a person types to name something of which the id is shown as well: what it is called, or the first digits of its id.
///
/// Others choose names: one may be the digits of another one's id.
struct NameOrDigits {
  /// Fewer digits could be part of too many ids.
  private static let leastDigits = 6
  /// So many digits, as messages tell people to type, are never taken for a name where an id begins so: nobody finds an id
  /// that begins with what is typed as a name.
  private static let certainDigits = 12

  private let text: String

  init(_ text: String) { self.text = text.lowercased() }

  /// Whether an id in hex begins with what was typed.
  func begins(_ id: String) -> Bool {
    text.count >= Self.leastDigits && text.allSatisfy(\.isHexDigit) && id.hasPrefix(text)
  }

  /// Those of all that are meant; of more than one only the person knows which.
  ///
  /// - Parameters:
  ///   - name: What one is called; empty if it has no name.
  ///   - id: In hex.
  func meant<Named>(
    among all: [Named], name: (Named) -> String, id: (Named) -> String
  ) -> [Named] {
    if text.isEmpty { return [] }
    let byID = all.filter { begins(id($0)) }
    if text.count >= Self.certainDigits, !byID.isEmpty { return byID }
    return all.filter { name($0).lowercased() == text || begins(id($0)) }
  }

  /// The one that is meant; nil if there is none. One may stand among all several times.
  ///
  /// - Throws: `usage` where more than one is meant: nothing is done by a name that does not say of which.
  func one<Named>(
    among all: [Named], name: (Named) -> String, id: (Named) -> String
  ) throws(CommandError) -> Named? {
    let found = meant(among: all, name: name, id: id)
    var ids: [String] = []
    for each in found where !ids.contains(id(each)) { ids.append(id(each)) }
    guard ids.count <= 1 else {
      let digits = ids.map { String($0.prefix(Self.certainDigits)) }.joined(separator: ", ")
      throw .usage("More than one is called that. Name one by the id: \(digits)")
    }
    return found.first
  }
}
