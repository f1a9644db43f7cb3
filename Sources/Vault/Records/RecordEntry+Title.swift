import Notes
import VaultModel

extension RecordEntry {
  /// The title without the date that it begins with.
  package var shownTitle: String {
    let text = title.string
    let date = date + " "
    guard date.utf8.count > 1, text.utf8.starts(with: date.utf8) else { return text }
    return String(text[text.utf8.index(text.startIndex, offsetBy: date.utf8.count)...])
  }

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
}
