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

  /// `findDisplaced` after a commit of this device wrote these records, if one of them can have displaced something: its
  /// author need not have known what others had put there.
  func findDisplaced(afterWriting written: [RecordEntry]) -> Set<RecordID> {
    let mayDiffer =
      displaced.withLock { !$0.isEmpty }
      || manifest.withLock { manifest in written.contains { manifest.mayDisplace($0) } }
    return mayDiffer ? findDisplaced() : []
  }

  /// The entry as it shows: a displaced record's parent is the root.
  func shown(_ entry: RecordEntry) -> RecordEntry {
    guard displaced.withLock({ !$0.isEmpty && $0.contains(entry.record) }) else { return entry }
    var entry = entry
    entry.parent = .root
    return entry
  }
}
