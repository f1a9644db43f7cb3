/// The YAML at the top of a `record.md`, parsed: what a record says of itself in a form that can be
/// listed and searched (`Docs/Format.md`, "record.md").
///
/// The text of a record is the truth and is kept to the byte; this is only what it means. Fields
/// keep the order in which they were written.
package struct FrontMatter: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// A YAML value. Scalars stay the text that was written: `0123` is not turned into a number.
  package indirect enum Value: Hashable, Sendable {
    case text(String)
    case list([Value])
    case map([Field])
  }

  /// Every field, those with an accessor below among them.
  package var fields: [Field]

  package init(fields: [Field] = []) {
    self.fields = fields
  }

  package subscript(name: String) -> Value? {
    fields.first { $0.name == name }?.value
  }

  /// The kind of record, as written (`vaccine`); empty if it is not given or not text.
  package var type: String { text("type") }

  /// When it happened, as written (`2025-01-20`); empty if it is not given or not text.
  package var date: String { text("date") }

  private func text(_ name: String) -> String { self[name]?.plainText ?? "" }
}

extension FrontMatter.Value {
  /// The text of a scalar; nil for a list or a map.
  package var plainText: String? {
    if case .text(let text) = self { text } else { nil }
  }
}

/// What a commit copies from a `record.md` into the manifest, so that records can be listed without
/// opening them.
package struct FrontMatterSummary: Hashable, Sendable {
  package var type: String
  package var date: String
  /// There is front matter, and it is not a YAML mapping.
  package var isUnreadable: Bool

  /// Of a record without front matter.
  package static let empty = FrontMatterSummary()

  package init(type: String = "", date: String = "", isUnreadable: Bool = false) {
    self.type = type
    self.date = date
    self.isUnreadable = isUnreadable
  }
}

extension FrontMatter {
  /// The longest type or date, in bytes, that a manifest entry carries; longer ones are left out.
  package static let summaryFieldLimit = 32

  /// The type and date of a `record.md`. Never throws and never takes long, whatever the bytes.
  package static func summary(of documentBytes: [UInt8]) -> FrontMatterSummary {
    do {
      guard let matter = try RecordDocument(documentBytes).frontMatter() else {
        return FrontMatterSummary()
      }
      return FrontMatterSummary(type: listed(matter.type), date: listed(matter.date))
    } catch {
      return FrontMatterSummary(isUnreadable: true)
    }
  }

  private static func listed(_ text: String) -> String {
    text.utf8.count <= summaryFieldLimit ? text : ""
  }
}

/// Why front matter could not be read. Carries no text of the record.
package struct FrontMatterError: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    case notClosed
    case tooLong(byteCount: Int, limit: Int)
    case notUTF8
    case nestedTooDeeply
    /// It uses `&anchor` and `*alias`, with which a few lines can stand for gigabytes.
    case aliases
    case notAMapping
    case duplicateField
    /// What the YAML parser found wrong, in its words.
    case syntax(String)
  }

  package var reason: Reason
  /// The line of the `record.md`, from 1, where that is known.
  package var line: Int?

  package init(_ reason: Reason, line: Int? = nil) {
    self.reason = reason
    self.line = line
  }

  package var message: String {
    let what =
      switch reason {
      case .notClosed: "the line \"---\" that ends the front matter is missing"
      case .tooLong(_, let limit): "the front matter is longer than \(limit / 1024) KiB"
      case .notUTF8: "the front matter is not UTF-8 text"
      case .nestedTooDeeply: "the front matter is nested too deeply"
      case .aliases: "the front matter uses YAML aliases (&name and *name), which are not read"
      case .notAMapping: "the front matter is not a list of \"field: value\" lines"
      case .duplicateField: "a field stands in the front matter twice"
      case .syntax(let problem): "the front matter is not valid YAML: \(problem)"
      }
    return line.map { "line \($0): \(what)" } ?? what
  }
}
