import Vault
import VaultModel

/// A record in a list of records, as JSON.
struct RecordRow: Encodable {
  var id: String
  var member: String
  var path: String
  var pathBytes: String?
  var title: String
  var type: String
  /// As it is read; where it cannot be, as it is written.
  var date: String
  var unreadableDate: Bool?
  var changed: String

  // What `kinvault record list` says besides.
  var deleted: Bool?
  var unreadableFrontMatter: Bool?

  // What `kinvault search` says besides; `path` is then that of the file in which it was found.
  /// The record's path.
  var record: String?
  var foundIn: String?
  var excerpt: String?

  /// - Parameters:
  ///   - path: As text.
  ///   - bytes: The same; nil for a record that cannot be reached.
  init(_ entry: RecordEntry, of member: FileName, at path: String, bytes: [UInt8]?) {
    id = entry.record.hex
    self.member = member.string
    self.path = path
    pathBytes = bytes.flatMap(JSONOutput.hexUnlessText)
    title = entry.shownTitle
    type = entry.type
    date = entry.hasUnreadableDate ? entry.date : entry.readDate
    unreadableDate = entry.hasUnreadableDate ? true : nil
    changed = DateText.utc(milliseconds: entry.time.milliseconds)
  }
}

extension RecordEntry {
  /// Its date as lists show it.
  var listedDate: String { hasUnreadableDate ? "\(date) ?" : readDate }

  /// What a list says where it shows or leaves out records whose dates cannot be read.
  static let unreadableDateNote =
    "Some dates cannot be read, and count as none: a question mark stands behind them, and what is listed by date "
    + "leaves their records out. kinvault check names them. A date is written 2025-01-20, 2025-01 or 2025; 20.1.2025 "
    + "will do as well."
}
