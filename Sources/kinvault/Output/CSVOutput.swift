/// What `--csv` prints: RFC 4180, with a line of headings.
enum CSVOutput {
  static func line(_ cells: [String]) -> String {
    cells.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// Names are somebody else's words: a spreadsheet takes none of them for a formula, and a terminal for no command.
  private static func quoted(_ cell: String) -> String {
    var text = Terminal.visible(cell)
    if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) {
      text = "'" + text
    }
    return "\""
      + text.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }
}
