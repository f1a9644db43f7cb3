/// The types of records that Kinvault knows: where each is put and which fields it usually has.
///
/// A record may have any other type as well; it is then only a word in its front matter.
package enum RecordType: String, CaseIterable, Sendable {
  case vaccine
  case allergy
  case medication
  case visit
  case labResult = "lab result"
  case imaging
  case condition
  case procedure
  case insurance
  case document
  case note

  /// The type that this text names, in any case, its words joined or apart in any way:
  /// `lab result`, `Lab-Result`, `labresult`.
  package init?(parsing text: some StringProtocol) {
    let letters = text.lowercased().filter(\.isLetter)
    let found = Self.allCases.first { type in
      let name = type.rawValue.filter(\.isLetter)
      return name == letters || type.folder.lowercased().filter(\.isLetter) == letters
    }
    guard let found else { return nil }
    self = found
  }

  /// The directory of a member that records of this type are put into.
  package var folder: String {
    switch self {
    case .vaccine: "Vaccines"
    case .allergy: "Allergies"
    case .medication: "Medications"
    case .visit: "Visits"
    case .labResult: "Lab Results"
    case .imaging: "Imaging"
    case .condition: "Conditions"
    case .procedure: "Procedures"
    case .insurance: "Insurance"
    case .document: "Documents"
    case .note: "Notes"
    }
  }

  /// The fields that a new record of this type starts with, besides type, date, provider and tags.
  package var usualFields: [String] {
    switch self {
    case .vaccine: ["manufacturer", "lot", "dose", "site", "next"]
    case .allergy: ["substance", "reaction", "severity", "since"]
    case .medication: ["dose", "frequency", "reason", "started", "stopped"]
    case .visit: ["reason", "diagnosis", "next"]
    case .labResult: ["laboratory", "specimen", "result"]
    case .imaging: ["modality", "region", "findings"]
    case .condition: ["status", "since", "until"]
    case .procedure: ["reason", "outcome"]
    case .insurance: ["insurer", "number", "from", "until"]
    case .document: ["issuer", "valid until"]
    case .note: []
    }
  }
}

extension FrontMatter {
  /// The front matter of a new record: the usual fields of its type, where Kinvault knows that, empty where nothing was
  /// given, then those given beyond them in their order. A field given twice becomes a list.
  package init(
    type: String, date: String, given: [(name: String, value: String)] = []
  ) {
    var names = ["type", "date", "provider", "tags"]
    names += RecordType(rawValue: type)?.usualFields ?? []
    for field in given where !names.contains(field.name) { names.append(field.name) }
    fields = names.map { name in
      let values = given.filter { $0.name == name }.map { Value.text($0.value) }
      switch (name, values.count) {
      case ("type", _): return Field(name, .text(type))
      case ("date", 0): return Field(name, .text(date))
      case ("tags", _): return Field(name, .list(Self.splitTags(values)))
      case (_, 0): return Field(name, .text(""))
      case (_, 1): return Field(name, values[0])
      default: return Field(name, .list(values))
      }
    }
  }

  /// Tags may be given one by one or with commas between them.
  private static func splitTags(_ values: [Value]) -> [Value] {
    values.flatMap { value in
      (value.plainText ?? "").split(separator: ",").map {
        Value.text(String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()))
      }
    }
  }
}
