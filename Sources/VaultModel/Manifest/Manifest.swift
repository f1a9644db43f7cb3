/// What is known of every record of one member: the join of all the entries that were applied.
///
/// The order in which entries are applied does not matter, nor does applying one twice. Of
/// revisions that know nothing of each other all are kept until a merged one is applied; the one
/// that shows meanwhile is the same on every device. A value type; 100,000 records take about 30 MB.
package struct Manifest: Sendable {
  /// What applying an entry did.
  package enum Change: Hashable, Sendable {
    /// It was known already, or is older than what is known.
    case unchanged
    /// It now counts; what it replaced, or nil for a record that is new here.
    case replaced(RecordEntry?)
    /// It and others know nothing of each other; they wait for a merge.
    case concurrent
  }

  private var nodes = RecordNodes()
  // Entries that are concurrent with the one that shows, by record; seldom any. In no order: an editor can make any number.
  private var others: [RecordID: [RecordEntry]] = [:]
  // Revisions among the entries that are sealed in another epoch than the current one; seldom any.
  private var late: [ContentDigest: StatementID] = [:]

  package init() {}

  package init(_ entries: some Sequence<RecordEntry>) {
    for entry in entries { _ = apply(entry) }
  }

  /// The number of records, tombstones included.
  package var count: Int { nodes.count }

  /// The number of records that are not deleted.
  package var liveCount: Int { nodes.liveCount }

  /// The entry that counts for a record, tombstones included; nil for a record that is not known.
  package subscript(record: RecordID) -> RecordEntry? { nodes[record] }

  /// Every record's entry, tombstones included, in no particular order. O(records).
  package var entries: [RecordEntry] { nodes.entries }

  /// The live records whose parent this is, in no particular order. O(children).
  package func children(of parent: RecordID) -> [RecordEntry] { nodes.children(of: parent) }

  /// Calls `body` with each of them: for when they are a hundred thousand. O(children).
  package func visitChildren(of parent: RecordID, _ body: (RecordEntry) -> Void) {
    nodes.visitChildren(of: parent, body)
  }

  /// The number of live records whose parent this is. O(1).
  package func childCount(of parent: RecordID) -> Int { nodes.childCount(of: parent) }

  /// The live records that can not show where their parent link says, which show directly under the member's root.
  ///
  /// Devices that move and delete at once may leave a record whose parent is deleted or not known, or records that are
  /// each other's parents. Nothing of them may become invisible.
  ///
  /// - Returns: Those whose parent is deleted or unknown and, of each ring of parents, the one with the smallest id,
  ///   which does not change when one of them is edited. Sorted. O(records).
  package var displaced: [RecordID] { nodes.displaced }

  /// Whether a record or what is in it may be among `displaced`. O(depth).
  package func mayDisplace(_ entry: RecordEntry) -> Bool {
    if entry.isDeleted { return childCount(of: entry.record) > 0 }
    var seen: Set<RecordID> = [entry.record]
    var next = entry.parent
    while let record = next {
      guard seen.insert(record).inserted, let above = self[record], !above.isDeleted else {
        return true
      }
      next = above.parent
    }
    return false
  }

  /// Makes room for this many records in all.
  package mutating func reserveCapacity(_ capacity: Int) { nodes.reserveCapacity(capacity) }

  /// The records with more than one entry, each with all of them, greatest first: to be merged.
  package var conflicts: [RecordID: [RecordEntry]] {
    others.reduce(into: [:]) { result, pair in
      result[pair.key] = (pair.value + [nodes[pair.key]].compactMap(\.self)).sorted(
        by: Self.showsBefore)
    }
  }

  /// Whether there are records with more than one entry. O(1).
  package var hasConflicts: Bool { !others.isEmpty }

  /// Every entry of a record that no other one dominates, greatest first: that is the one that shows; none of a record that is
  /// not known.
  package func rivals(of record: RecordID) -> [RecordEntry] {
    guard let shown = nodes[record] else { return [] }
    guard !others.isEmpty, let hidden = others[record] else { return [shown] }
    return [shown] + hidden.sorted(by: Self.showsBefore)
  }

  /// Those of them that are meant, in no order: for whoever asks of many entries, which may be of one record.
  package func rivals(
    of record: RecordID, where isMeant: (RecordEntry) -> Bool
  ) -> [RecordEntry] {
    guard let shown = nodes[record] else { return [] }
    return (isMeant(shown) ? [shown] : []) + (others[record] ?? []).filter(isMeant)
  }

  /// The entries whose revisions are sealed in another epoch than the current one.
  package var lateEntries: [RecordEntry] {
    if late.isEmpty { return [] }
    return (entries + others.values.joined()).filter { late[$0.revision] != nil }
  }

  package func isLate(_ entry: RecordEntry) -> Bool { !late.isEmpty && late[entry.revision] != nil }

  /// Whether applying the entry would change anything.
  ///
  /// - Parameter epoch: That of its revision; nil for the current one.
  package func isNews(_ entry: RecordEntry, from epoch: StatementID? = nil) -> Bool {
    guard let shown = nodes[entry.record] else { return true }
    return !rank(entry, epoch, shown).isKnown && replaced(by: entry, epoch) != nil
  }

  /// Whether the entry's revision is one of those that count for its record: no other one that is known replaces it.
  package func holds(_ entry: RecordEntry) -> Bool {
    guard let shown = nodes[entry.record] else { return false }
    if shown.revision == entry.revision { return true }
    return others[entry.record]?.contains { $0.revision == entry.revision } ?? false
  }

  /// Joins an entry into the manifest.
  ///
  /// Of two entries that know the same, as one version has them under the keys of two epochs, that of the current epoch
  /// counts; of two other epochs the one with the greater id, which is a hash and says nothing of time.
  ///
  /// - Parameter epoch: That of its revision; nil for the current one.
  package mutating func apply(_ entry: RecordEntry, from epoch: StatementID? = nil) -> Change {
    let position = nodes.position(of: entry.record)
    guard let shown = nodes[position] else {
      nodes.set(entry, at: position)
      if epoch != nil { late[entry.revision] = epoch }
      return .replaced(nil)
    }
    let order = rank(entry, epoch, shown)
    guard !order.isKnown, let replaced = replaced(by: entry, epoch) else { return .unchanged }
    removeOthers(replaced, of: entry.record)
    if order == .dominates { forgetEpoch(of: shown) }
    if epoch != nil || !late.isEmpty { late[entry.revision] = epoch }
    return order == .dominates
      ? show(entry, at: position, insteadOf: shown) : add(entry, at: position, beside: shown)
  }

  /// Which of the entries that do not show this one replaces; nil if one of them knows all that it does.
  private func replaced(by entry: RecordEntry, _ epoch: StatementID?) -> [Int]? {
    guard !others.isEmpty, let hidden = others[entry.record] else { return [] }
    var replaced: [Int] = []
    for (index, other) in hidden.enumerated() {
      let order = rank(entry, epoch, other)
      if order.isKnown { return nil }
      if order == .dominates { replaced.append(index) }
    }
    return replaced
  }

  private mutating func removeOthers(_ indices: [Int], of record: RecordID) {
    guard !indices.isEmpty, let hidden = others.removeValue(forKey: record) else { return }
    for index in indices { forgetEpoch(of: hidden[index]) }
    let gone = Set(indices)
    let left = hidden.indices.filter { !gone.contains($0) }.map { hidden[$0] }
    if !left.isEmpty { others[record] = left }
  }

  private mutating func forgetEpoch(of entry: RecordEntry) {
    if !late.isEmpty { late[entry.revision] = nil }
  }

  private mutating func forgetEpochs(of record: RecordID) {
    if late.isEmpty { return }
    for gone in rivals(of: record) { forgetEpoch(of: gone) }
  }

  /// Shows the greatest of the entry, which dominates the one that shows, and of those that do not show.
  private mutating func show(
    _ entry: RecordEntry, at position: RecordNodes.Position, insteadOf shown: RecordEntry
  ) -> Change {
    guard let (index, greatest) = greatestOther(of: entry.record) else {
      nodes.set(entry, at: position)
      return .replaced(shown)
    }
    if Self.showsBefore(greatest, entry) {
      nodes.set(greatest, at: position)
      others[entry.record]?[index] = entry
    } else {
      nodes.set(entry, at: position)
    }
    return .concurrent
  }

  /// Of those that do not show.
  private func greatestOther(of record: RecordID) -> (index: Int, entry: RecordEntry)? {
    guard !others.isEmpty, let hidden = others[record] else { return nil }
    return hidden.enumerated().min { Self.showsBefore($0.element, $1.element) }
      .map { ($0.offset, $0.element) }
  }

  private mutating func add(
    _ entry: RecordEntry, at position: RecordNodes.Position, beside shown: RecordEntry
  ) -> Change {
    let isGreater = Self.showsBefore(entry, shown)
    if isGreater { nodes.set(entry, at: position) }
    others[entry.record, default: []].append(isGreater ? shown : entry)
    return .concurrent
  }

  /// Puts an entry in the place of whatever is known of its record, newer or not.
  package mutating func replace(_ entry: RecordEntry) {
    forgetEpochs(of: entry.record)
    others[entry.record] = nil
    nodes.set(entry)
  }

  /// Puts these in the place of all that is known of their one record.
  package mutating func replaceRivals(_ entries: [RecordEntry]) {
    guard let first = entries.first else { return }
    replace(first)
    for entry in entries.dropFirst() { _ = apply(entry) }
  }

  /// Forgets these records, as if they had never been known: for tombstones that nobody needs any more.
  package mutating func remove(_ records: Set<RecordID>) {
    for record in records {
      forgetEpochs(of: record)
      others[record] = nil
      nodes.remove(record)
    }
  }

  /// How the first of two entries of a record, of this epoch, stands to the second, which is known. Two that know the
  /// same are ranked by their epochs, the current one first and others by their ids, the same on every device; and, as two
  /// merges of the same revisions in different order are, as `showsBefore` has it.
  private func rank(
    _ entry: RecordEntry, _ epoch: StatementID?, _ other: RecordEntry
  ) -> VersionVector.Order {
    let order = entry.compare(to: other)
    guard order == .equal else { return order }
    let known = late.isEmpty ? nil : late[other.revision]
    if epoch != known {
      guard let epoch else { return .dominates }
      guard let known else { return .dominated }
      return epoch > known ? .dominates : .dominated
    }
    guard entry != other else { return .equal }
    return Self.showsBefore(entry, other) ? .dominates : .dominated
  }

  /// The same order on every device: the later time, then the greater device, then the greater
  /// revision, first.
  private static func showsBefore(_ left: RecordEntry, _ right: RecordEntry) -> Bool {
    (left.time, left.device, left.revision) > (right.time, right.device, right.revision)
  }

  /// Every entry that no other one of its record dominates, in the order of a checkpoint.
  package var sortedEntries: [RecordEntry] {
    (entries + others.values.joined()).sorted {
      ($0.record, $0.revision) < ($1.record, $1.revision)
    }
  }

  /// What has to be joined with this manifest so that it becomes one that holds exactly these entries.
  ///
  /// - Parameter wanted: In the order of a checkpoint; of one record none dominates another.
  /// - Returns: Nil when that cannot be, since this manifest holds something that none of them is or dominates.
  package func additions(toBecome wanted: [RecordEntry]) -> [RecordEntry]? {
    var joined = self
    let additions = wanted.filter { joined.apply($0) != .unchanged }
    // To the last field: what others say of a revision need not be so.
    return joined.sortedEntries == wanted ? additions : nil
  }
}

extension VersionVector.Order {
  /// Whether the right one knows all that the left one knows.
  fileprivate var isKnown: Bool { self == .dominated || self == .equal }
}
