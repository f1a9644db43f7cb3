import VaultErrors
import VaultModel

/// A record's note as somebody has read it, who may change it while others do the same.
package struct NoteReading: Sendable {
  /// A longer note is edited in the mounted view alone, in bytes.
  package static let byteLimit = 1 << 20

  package let record: RecordID
  /// The revision of which it is.
  package let revision: ContentDigest
  /// What the record was called then.
  package let title: FileName
  /// Empty where there is no note.
  package let bytes: [UInt8]
  /// Nil where there is none.
  private let item: Item?

  /// The note as it is now, of a deleted record as it was last.
  ///
  /// - Throws: `notFound`; `limit` for a note longer than `byteLimit`; what reading throws.
  package static func load(
    of record: RecordID, in member: Member
  ) throws(VaultError) -> NoteReading {
    guard let entry = member.entry(record) else { throw .notFound(what: "the record") }
    return try load(of: record, at: entry.revision, in: member)
  }

  /// The note as it was.
  package static func load(
    of record: RecordID, at revision: ContentDigest, in member: Member
  ) throws(VaultError) -> NoteReading {
    let version = try member.revision(revision)
    let title = version.place.title
    guard let item = try member.item(named: .record, of: version) else {
      return NoteReading(record: record, revision: revision, title: title, bytes: [], item: nil)
    }
    guard item.size <= UInt64(byteLimit) else {
      throw .limit(what: "bytes of a note", found: Int(clamping: item.size), limit: byteLimit)
    }
    let bytes = try member.beginning(of: item, byteCount: byteLimit)
    return NoteReading(record: record, revision: revision, title: title, bytes: bytes, item: item)
  }

  /// Whether both have the same text.
  package func isSame(as other: NoteReading) -> Bool { item?.content == other.item?.content }

  /// The item that the note becomes with other text: the same file, with what belongs to it.
  ///
  /// - Parameter item: A new one with that text.
  package func item(replacedBy item: Item) -> Item {
    guard let old = self.item else { return item }
    var new = item
    (new.file, new.mode, new.xattrs) = (old.file, old.mode, old.xattrs)
    new.linkRecords = old.linkRecords
    return new
  }

  /// The edit that gives the record a note with this item, and lets what another device made of it meanwhile become a
  /// conflict.
  package func edit(replacingBy item: Item) -> RecordEdit {
    var edit = RecordEdit(record: record, items: [.record: self.item(replacedBy: item)])
    edit.seen[.record] = self.item.map(SeenFile.init) ?? .nothing
    return edit
  }
}
