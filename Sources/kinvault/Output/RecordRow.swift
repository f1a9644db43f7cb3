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
  var date: String
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
    date = entry.date
    changed = DateText.utc(milliseconds: entry.time.milliseconds)
  }
}
