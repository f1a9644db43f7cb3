/// A name as people put names in order: `IM2` comes before `IM10`, and `card.jpg` before `Report.pdf`.
package struct NaturalName: Comparable {
  private enum Part: Comparable {
    case number(Int)
    case text(String)
  }

  private let parts: [Part]
  private let name: FileName

  package init(_ name: FileName) {
    self.name = name
    var parts: [Part] = []
    var rest = Substring(name.string)
    while let first = rest.first {
      let isDigit = first.isASCII && first.isNumber
      let part = rest.prefix { ($0.isASCII && $0.isNumber) == isDigit }
      let text = Part.text(part.lowercased())
      parts.append(isDigit ? Int(part).map { Part.number($0) } ?? text : text)
      rest = rest.dropFirst(part.count)
    }
    self.parts = parts
  }

  package static func < (left: Self, right: Self) -> Bool {
    if left.parts == right.parts { return left.name < right.name }
    return left.parts.lexicographicallyPrecedes(right.parts)
  }

  package static func == (left: Self, right: Self) -> Bool { left.name == right.name }
}

extension Sequence {
  /// The elements in the order of their names, as people put them.
  package func sortedNaturally(by name: (Element) -> FileName) -> [Element] {
    map { (name: NaturalName(name($0)), element: $0) }.sorted { $0.name < $1.name }.map(\.element)
  }
}
