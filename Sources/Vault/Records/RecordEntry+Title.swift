import VaultModel

extension RecordEntry {
  /// The title without the date that it begins with.
  package var shownTitle: String {
    let text = title.string
    for date in [readDate, date] where !date.isEmpty {
      let start = date + " "
      if text.utf8.starts(with: start.utf8) {
        return String(text[text.utf8.index(text.startIndex, offsetBy: start.utf8.count)...])
      }
    }
    return text
  }
}
