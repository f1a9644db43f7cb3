import Glibc

/// Standard error, for a mount in the foreground.
package struct StandardError: LogDestination {
  // Then a line wants its priority before it.
  private let isJournal: Bool

  /// - Parameter journalStream: The variable `JOURNAL_STREAM`, by which systemd says which file leads to the journal.
  package static func find(journalStream: String?) -> StandardError {
    var status = stat()
    let isJournal =
      fstat(STDERR_FILENO, &status) == 0 && journalStream == "\(status.st_dev):\(status.st_ino)"
    return StandardError(isJournal: isJournal)
  }

  package func write(_ line: LogLine) -> Bool {
    let start = isJournal ? "<\(line.priority)>" : "kinvault: \(line.level): "
    let bytes = Array("\(start)\(line.text)\n".utf8)
    return Glibc.write(STDERR_FILENO, bytes, bytes.count) == bytes.count
  }
}
