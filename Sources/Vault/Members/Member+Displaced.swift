import VaultModel

extension Member {
  /// Looks anew for records that cannot show where their parent link says: devices that moved and deleted at once
  /// leave such. They show directly in the member. O(records).
  ///
  /// - Returns: Those that are displaced now and were not, or the other way round.
  @discardableResult
  func findDisplaced() -> Set<RecordID> {
    let found = manifest.withLock { Set($0.displaced) }
    return displaced.withLock { displaced in
      defer { displaced = found }
      return displaced.symmetricDifference(found)
    }
  }

  /// `findDisplaced` after a commit of this device, which displaces nothing by itself.
  func findDisplaced(afterJoining joined: Set<RecordID>) -> Set<RecordID> {
    guard !joined.isEmpty || displaced.withLock({ !$0.isEmpty }) else { return [] }
    return findDisplaced()
  }

  /// The entry as it shows: a displaced record's parent is the root.
  func shown(_ entry: RecordEntry) -> RecordEntry {
    guard displaced.withLock({ !$0.isEmpty && $0.contains(entry.record) }) else { return entry }
    var entry = entry
    entry.parent = .root
    return entry
  }
}
