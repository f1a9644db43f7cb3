import Notes
import VaultModel

extension RecordEntry {
  /// The date that its note says, as `2025-01-20`, `2025-01` or `2025`, however it is written there; empty where it says none,
  /// or none that can be read.
  package var readDate: String { date.isEmpty ? "" : RecordDate.read(date) ?? "" }

  /// Its note says a date that cannot be read, so it counts as a record without one.
  package var hasUnreadableDate: Bool { !date.isEmpty && readDate.isEmpty }

  /// The date that the title begins with, before a space: `2024-11-02 CT head`, `2024 Spa`. Empty where it begins with none.
  package var dateInTitle: String {
    guard let first = title.bytes.first, (0x30...0x39).contains(first) else { return "" }
    let text = title.string
    let start = text.prefix { $0 != " " }
    // With nothing behind it, it is the title.
    guard text[start.endIndex...].contains(where: { $0 != " " }), RecordDate.isWritten(start) else {
      return ""
    }
    return String(start)
  }

  /// The date that its note says, or where it says none the one that its title begins with; empty where there is neither.
  package var ownDate: String {
    let date = readDate
    return date.isEmpty ? dateInTitle : date
  }
}
