/// Finds the live records that can not show where their parent link says.
///
/// Devices that move and delete at once may leave a record whose parent is deleted or not known, or
/// records that are each other's parents. Nothing of them may become invisible, so they show under the root.
package enum DisplacedRecords {
  /// The records that show directly under the member's root although their parent is another: those
  /// whose parent is deleted or unknown and, of each ring of parents, the one with the smallest id,
  /// which does not change when one of them is edited. Sorted. O(records).
  package static func find(in manifest: Manifest) -> [RecordID] {
    enum State { case onPath, placed }
    var states: [RecordID: State] = [:]
    states.reserveCapacity(manifest.count)
    var displaced: [RecordID] = []
    for entry in manifest.entries where !entry.isDeleted {
      var path: [RecordID] = []
      var current = entry
      while current.record != .root, states[current.record] == nil {
        states[current.record] = .onPath
        path.append(current.record)
        guard let parent = current.parent, parent != .root else { break }
        guard let next = manifest[parent], !next.isDeleted else {
          displaced.append(current.record)
          break
        }
        current = next
        if states[parent] == .onPath {
          let ring = path[(path.firstIndex(of: parent) ?? 0)...]
          if let smallest = ring.min() { displaced.append(smallest) }
        }
      }
      for record in path { states[record] = .placed }
    }
    return displaced.sorted()
  }
}
