import VaultCrypto
import VaultModel

/// A version of a record that lost, as it is kept in the member's `Offline Sync Conflicts`.
///
/// `Docs/Format.md` section 10. What it is called and which record it becomes depends on the version alone, so that
/// several devices that see one conflict keep one copy.
struct ConflictCopy: Equatable, Sendable {
  let mark: ConflictMark
  /// What the record was called in that version.
  var title: FileName
  /// What the version held, with the times at which it was written.
  var items: [Item]
  /// What else tells it from others of its mark: of a join, one of whose parts has the same time and device, its digest; and
  /// that there is nothing of it but its place.
  var version: [UInt8] = []

  /// The record that holds the conflicts of a member.
  static func folder(of member: MemberID) -> RecordID {
    RecordID.derived("kinvault offline conflicts", member.bytes)
  }

  /// The record that this copy becomes.
  func record(in member: MemberID) -> RecordID {
    RecordID.derived(
      "kinvault offline conflict",
      member.bytes + mark.record.bytes + mark.device.bytes + bigEndian(mark.time.rawValue)
        + version)
  }

  /// A copy of its own of some of the items: another version of the same mark has left no room for them, or whoever threw the
  /// copy away has not seen them.
  func beside(_ items: [Item]) -> ConflictCopy {
    var copy = self
    copy.items = items
    copy.version += items.sorted { $0.name < $1.name }.flatMap { item in
      var item = item
      item.file = .zero
      return item.name.bytes + item.stateBytes
    }
    return copy
  }

  /// The file that a copy's item is.
  static func file(named name: FileName, in copy: RecordID) -> FileID {
    FileID(RecordID.derived("kinvault conflict file", copy.bytes + name.bytes))
  }

  /// The items as files of their own: no longer hard links of those that won.
  func detachedItems(in member: MemberID) -> [Item] {
    let record = record(in: member)
    return items.map { item in
      var item = item
      item.file = Self.file(named: item.name, in: record)
      item.linkRecords = []
      return item
    }
  }

  /// A note that says what was lost, for a version of which nothing but its place lost.
  mutating func addNoteOfPlace() {
    guard !items.contains(where: { $0.name == .record }) else { return }
    // A note that lost to a third version may be in the copy of the same mark.
    version += Array("place".utf8)
    let text = """
      ---
      type: note
      ---
      This record was renamed, moved or deleted on two devices before they had met. The later change counts.
      With the other one it would have been called:

      \(title.string)

      """
    let bytes = Array(text.utf8)
    items.append(
      Item(
        name: .record, file: .zero, size: UInt64(bytes.count),
        modified: FileTimestamp(milliseconds: mark.time.milliseconds),
        mediaType: "text/markdown", content: .inline(bytes), time: mark.time))
  }
}

extension FileID {
  /// The id that an item has for itself whose file shows in another state under another name.
  package static func parted(
    _ file: FileID, in record: RecordID, _ name: FileName
  ) -> FileID {
    FileID(
      RecordID.derived("kinvault parted file", file.bytes + record.bytes + name.bytes))
  }

  /// The id that items have together which are names of one file, where the file of their id shows in another state under another
  /// name.
  ///
  /// - Parameter records: Their `linkRecords`.
  package static func parted(_ file: FileID, into records: [RecordID]) -> FileID {
    FileID(RecordID.derived("kinvault parted names", file.bytes + records.flatMap(\.bytes)))
  }

  /// An id made like a record's.
  fileprivate init(_ record: RecordID) { self.init(storage: record.storage) }
}

/// The number's eight bytes, the most significant first.
private func bigEndian(_ number: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}
