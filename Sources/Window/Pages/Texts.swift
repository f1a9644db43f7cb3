import FoundationEssentials
import Notes
import Vault

/// What the page says, in one language: `Files/LANGUAGE.json`. Another language is another file, and its name in `all`.
struct Texts: Sendable {
  /// As HTML and HTTP call it.
  let language: String
  private let texts: [String: String]

  static let all: [Texts] = [
    Texts("en", PackageResources.en_json), Texts("de", PackageResources.de_json),
  ]

  private init(_ language: String, _ file: [UInt8]) {
    self.language = language
    guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(file)) else {
      preconditionFailure("\(language).json is no catalogue")
    }
    self.texts = texts
  }

  /// The first language that a browser asks for and that is there, else English.
  ///
  /// - Parameter wish: `Accept-Language`: languages in the order in which people prefer them, as browsers send them.
  static func `for`(_ wish: String?) -> Texts {
    for part in (wish ?? "").split(separator: ",").prefix(20) {
      let language = part.prefix { $0 != ";" && $0 != "-" }.filter { $0 != " " }.lowercased()
      if let found = all.first(where: { $0.language == language }) { return found }
    }
    return all[0]
  }

  /// What is said, with values in the place of `{0}`, `{1}`.
  func callAsFunction(_ key: String, _ values: String...) -> String {
    guard var text = texts[key] else { preconditionFailure("no text for \(key)") }
    for (number, value) in values.enumerated() {
      text = text.replacing("{\(number)}", with: value)
    }
    return text
  }

  /// So many of something: the text of `key.one` for one of them, that of `key.many` for others.
  func count(_ count: Int, _ key: String) -> String {
    self(count == 1 ? "\(key).one" : "\(key).many", String(count))
  }

  var keys: Set<String> { Set(texts.keys) }

  // MARK: Words of records

  /// A type of records as people call it; one that nobody knows as it stands.
  func type(_ type: String) -> String { texts["type.\(type)"] ?? type }

  /// The type that somebody has typed, as records have it: one that Kinvault knows also by what the page calls it.
  func recordType(typed text: String) -> String {
    let known =
      RecordType(parsing: text)
      ?? RecordType.allCases.first { self.type($0.rawValue).lowercased() == text.lowercased() }
    return known?.rawValue ?? text
  }

  /// A field as people call it; one that nobody knows as it stands.
  func field(_ name: String) -> String { texts["field.\(name)"] ?? name }

  /// What was done, as the audit log calls it; as it stands where a newer version calls it something else.
  func action(_ action: String) -> String { texts["action.\(action)"] ?? action }

  /// What the audit log adds to what was done, such as the role that somebody was given; as it stands where there is
  /// no word for it.
  func detail(_ detail: String) -> String {
    texts["detail.\(detail)"] ?? texts["role.\(detail)"] ?? detail
  }

  /// A date as a record has it (`2025-01-20`, `2025-01`, `2025`) in words; what is none as it stands.
  func date(_ text: String) -> String {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 3, parts[0].count == 4, let year = UInt(parts[0]),
      parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
    else { return text }
    guard parts.count > 1 else { return String(year) }
    guard let number = UInt(parts[1]), let month = texts["month.\(number)"] else { return text }
    guard parts.count > 2 else { return self("date.month", month, String(year)) }
    guard let day = UInt(parts[2]), (1...31).contains(day) else { return text }
    return self("date.day", String(day), month, String(year))
  }

  /// The day, in the time zone of this machine.
  func day(milliseconds: UInt64) -> String {
    date(LocalTimeText.of(milliseconds: milliseconds).day)
  }

  /// The day and the time of day, in the time zone of this machine.
  func time(milliseconds: UInt64) -> String {
    let text = LocalTimeText.of(milliseconds: milliseconds)
    return "\(date(text.day)), \(text.time)"
  }

  /// `1.4 MB`, with the language's point.
  func byteCount(_ count: UInt64) -> String {
    var value = Double(count)
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    let isWhole = unit == 0 || value >= 100
    let tenths = Int((value * 10).rounded())
    let text =
      isWhole ? "\(Int(value.rounded()))" : "\(tenths / 10)\(self("decimal"))\(tenths % 10)"
    return "\(text) \(units[unit])"
  }
}
