import VaultModel

/// A record that a dry run found to be news to the other side.
package struct SyncedRecord: Hashable, Sendable {
  package enum Change: String, Hashable, Sendable {
    case new, changed, deleted
  }

  package var direction: SyncMove.Direction
  package var member: MemberID
  /// The names of the records above it, the member's own first, and of itself; as far up as they are known.
  package var path: [FileName]
  package var change: Change

  package init(
    _ direction: SyncMove.Direction, of member: MemberID, path: [FileName], _ change: Change
  ) {
    self.direction = direction
    self.member = member
    self.path = path
    self.change = change
  }
}

/// The names above a record, where a record may be known from one of several lists.
struct RecordTitles {
  /// The entry that counts for a record.
  let entry: (RecordID) -> RecordEntry?

  func path(of record: RecordEntry) -> [FileName] {
    var path = [record.title]
    var passed: Set<RecordID> = [record.record]
    var parent = record.parent
    // Devices that move at once may leave records that are each other's parents.
    while let above = parent, passed.insert(above).inserted, let found = entry(above) {
      path.append(found.title)
      parent = found.parent
    }
    return path.reversed()
  }
}
