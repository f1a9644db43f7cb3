import VaultModel

/// A file's name as people put names in order: `IM2` comes before `IM10`.
struct NaturalName: Comparable {
  private enum Part: Comparable {
    case number(Int)
    case text(String)
  }

  private let parts: [Part]
  private let name: FileName

  init(_ name: FileName) {
    self.name = name
    var parts: [Part] = []
    var rest = Substring(name.string)
    while let first = rest.first {
      let isDigit = first.isASCII && first.isNumber
      let part = rest.prefix { ($0.isASCII && $0.isNumber) == isDigit }
      parts.append(
        isDigit ? Int(part).map { .number($0) } ?? .text(String(part)) : .text(String(part)))
      rest = rest.dropFirst(part.count)
    }
    self.parts = parts
  }

  static func < (left: Self, right: Self) -> Bool {
    if left.parts == right.parts { return left.name < right.name }
    return left.parts.lexicographicallyPrecedes(right.parts)
  }

  static func == (left: Self, right: Self) -> Bool { left.name == right.name }
}
