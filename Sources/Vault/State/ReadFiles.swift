import BlobStore
import VaultPeople

/// The files that were read together, as they looked then, those that could not be read among them: whether they are to be read
/// again.
///
/// A disk that gives a file no more, or a file that this user may not read, would have all that it belongs to read and judged
/// anew with each look. So what goes on failing is tried again only after as long as it has failed already, a minute at most.
/// Whatever else changes is read at once.
struct ReadFiles: Sendable {
  private let marks: StatementMarks
  private let unread: StatementMarks
  /// When just these could not be read for the first time, and when they were tried last; milliseconds since 1970.
  private let since: UInt64
  private let tried: UInt64

  /// The longest that is waited, in milliseconds.
  private static let patience: UInt64 = 60_000

  /// - Parameters:
  ///   - marks: All files, as they looked before they were read.
  ///   - unread: Those that could not be.
  ///   - before: What was known of them.
  init(
    _ marks: StatementMarks, without unread: some Sequence<BlobPath>, after before: ReadFiles?,
    at now: UInt64
  ) {
    self.marks = marks
    let failed = Set(unread)
    self.unread = failed.isEmpty ? [:] : marks.filter { failed.contains($0.key) }
    tried = now
    if let before, before.unread == self.unread, before.since <= now {
      since = before.since
    } else {
      since = now
    }
  }

  /// Those that were read.
  var read: StatementMarks {
    unread.isEmpty ? marks : marks.filter { unread[$0.key] == nil }
  }

  /// Whether it is too early to try again what could not be read.
  func waits(at now: UInt64) -> Bool {
    !unread.isEmpty && now >= tried && now - tried < min(tried - since, Self.patience)
  }

  /// Whether they are to be read again, as they look now.
  func isOutdated(by marks: StatementMarks, at now: UInt64) -> Bool {
    marks != self.marks || !unread.isEmpty && !waits(at: now)
  }
}
