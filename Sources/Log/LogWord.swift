/// A word that stands in the source of this program. No name, path or address can become one: it is made of a literal, or
/// of a choice among fixed ones.
package struct LogWord: ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(stringLiteral word: StaticString) { description = "\(word)" }

  package init<Choice: RawRepresentable<String> & CaseIterable>(_ choice: Choice) {
    description = choice.rawValue
  }
}
