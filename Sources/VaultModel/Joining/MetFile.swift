/// A file of which writers that knew nothing of each other have left different items, and which may have other names.
/// `Docs/Format.md` section 10, "Files of several names".
package struct MetFile: Hashable, Sendable {
  /// Where names of it may be.
  package var records: Set<RecordID> = []
  /// The file as it stood under a name of it, tombstones left out.
  package var states: [Item] = []
  /// States that were replaced knowingly: as it stood before the writers parted.
  package var known: [Item] = []

  package init() {}

  /// Adds an item of the file that stands in `record`.
  package mutating func add(_ item: Item, in record: RecordID, known base: Item? = nil) {
    records.insert(record)
    records.formUnion(item.linkRecords)
    if !item.isDeleted { states.append(item) }
    if let base, base.file == item.file, !base.isDeleted { known.append(base) }
  }

  package mutating func join(_ other: MetFile) {
    records.formUnion(other.records)
    states += other.states
    known += other.known
  }

  /// The state that counts, of these and of those of the names that there are: the one of the latest change.
  package func newest(among names: [Item]) -> Item? {
    (states + names).max { $0.isStaler(than: $1) }
  }
}
