import VaultModel

extension RecordEntry {
  /// The title without the date that it begins with.
  package var shownTitle: String {
    let text = title.string
    let date = date + " "
    guard date.utf8.count > 1, text.utf8.starts(with: date.utf8) else { return text }
    return String(text[text.utf8.index(text.startIndex, offsetBy: date.utf8.count)...])
  }
}
