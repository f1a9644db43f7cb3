import ArgumentParser
import Notes

/// The type of a record: one that Kinvault knows, written in any way (`lab-result`, `Lab Results`), or any other words.
struct TypeArgument: ExpressibleByArgument {
  /// As `record.md` has it: `lab result`.
  let name: String

  /// The types that Kinvault knows, as they are typed: `lab-result`.
  static let knownNames = RecordType.allCases.map { type in
    type.rawValue.split(separator: " ").joined(separator: "-")
  }

  init(argument: String) {
    let words = argument.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    name = RecordType(parsing: words)?.rawValue ?? words
  }

  init(_ type: RecordType) { name = type.rawValue }

  /// Whether it is one that can be listed.
  var isGood: Bool { (1...FrontMatter.summaryFieldLimit).contains(name.utf8.count) }

  /// Nil for a type of people's own.
  var known: RecordType? { RecordType(rawValue: name) }

  var defaultValueDescription: String { name }
}
