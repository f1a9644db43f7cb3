/// Entries by record and by parent: a table of nodes, each child linked to the next.
///
/// Putting in, moving and taking out cost the same among 100,000 siblings as among two. A parent
/// that is named before it is known has a node without an entry.
struct RecordNodes: Sendable {
  /// Where a record has its node, for good. Looking it up is what costs when a manifest is loaded, so it is done once.
  struct Position: Hashable, Sendable {
    fileprivate let index: UInt32
  }

  private struct Node: Sendable {
    var entry: RecordEntry?
    // The node that it is linked to as a child.
    var parent = none
    var firstChild = none
    var nextSibling = none
    var previousSibling = none
    var childCount: UInt32 = 0
  }

  private static let none = UInt32.max
  private static let pageSize = 256

  // In pages, so that growing copies nothing and a copy that is changed shares the rest.
  private var pages: [[Node]] = []
  private var positions: [RecordID: UInt32] = [:]
  // Entries that come together often have one parent.
  private var lastParent: (record: RecordID, position: UInt32)?
  private(set) var count = 0
  private(set) var liveCount = 0

  subscript(record: RecordID) -> RecordEntry? {
    guard let position = positions[record] else { return nil }
    return self[position].entry
  }

  var entries: [RecordEntry] {
    var result: [RecordEntry] = []
    result.reserveCapacity(count)
    for page in pages { for node in page { if let entry = node.entry { result.append(entry) } } }
    return result
  }

  func childCount(of parent: RecordID) -> Int {
    positions[parent].map { Int(self[$0].childCount) } ?? 0
  }

  func children(of parent: RecordID) -> [RecordEntry] {
    var result: [RecordEntry] = []
    result.reserveCapacity(childCount(of: parent))
    visitChildren(of: parent) { result.append($0) }
    return result
  }

  func visitChildren(of parent: RecordID, _ body: (RecordEntry) -> Void) {
    guard let position = positions[parent] else { return }
    var child = self[position].firstChild
    while child != Self.none {
      if let entry = self[child].entry { body(entry) }
      child = self[child].nextSibling
    }
  }

  /// Makes room for this many records in all.
  mutating func reserveCapacity(_ capacity: Int) { positions.reserveCapacity(capacity) }

  /// Where the record has its node, which is made if there is none.
  mutating func position(of record: RecordID) -> Position { Position(index: makeNode(of: record)) }

  /// What counts for the record there; nil while it is not known.
  subscript(position: Position) -> RecordEntry? { self[position.index].entry }

  mutating func set(_ entry: RecordEntry) { set(entry, at: position(of: entry.record)) }

  /// - Parameter position: That of the entry's record.
  mutating func set(_ entry: RecordEntry, at position: Position) {
    place(entry, at: position.index)
  }

  mutating func remove(_ record: RecordID) {
    guard let position = positions[record] else { return }
    place(nil, at: position)
  }

  private mutating func place(_ entry: RecordEntry?, at position: UInt32) {
    if let old = self[position].entry {
      count -= 1
      if !old.isDeleted { liveCount -= 1 }
    }
    if let entry {
      count += 1
      if !entry.isDeleted { liveCount += 1 }
    }
    let parent = entry?.linkedParent.map { nodeOfParent($0) } ?? Self.none
    self[position].entry = entry
    guard parent != self[position].parent else { return }
    if self[position].parent != Self.none { unlink(position) }
    if parent != Self.none { link(position, to: parent) }
  }

  private mutating func link(_ child: UInt32, to parent: UInt32) {
    let next = self[parent].firstChild
    self[child].parent = parent
    self[child].nextSibling = next
    self[child].previousSibling = Self.none
    if next != Self.none { self[next].previousSibling = child }
    self[parent].firstChild = child
    self[parent].childCount += 1
  }

  private mutating func unlink(_ child: UInt32) {
    let parent = self[child].parent
    let (previous, next) = (self[child].previousSibling, self[child].nextSibling)
    self[child].parent = Self.none
    if previous == Self.none {
      self[parent].firstChild = next
    } else {
      self[previous].nextSibling = next
    }
    if next != Self.none { self[next].previousSibling = previous }
    self[parent].childCount -= 1
  }

  private mutating func nodeOfParent(_ parent: RecordID) -> UInt32 {
    if let lastParent, lastParent.record == parent { return lastParent.position }
    let position = makeNode(of: parent)
    lastParent = (parent, position)
    return position
  }

  private mutating func makeNode(of record: RecordID) -> UInt32 {
    if let position = positions[record] { return position }
    let position = UInt32(positions.count)
    positions[record] = position
    if pages.last?.count ?? Self.pageSize == Self.pageSize {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(Self.pageSize)
    }
    pages[pages.count - 1].append(Node())
    return position
  }

  private subscript(position: UInt32) -> Node {
    _read { yield pages[Int(position) / Self.pageSize][Int(position) % Self.pageSize] }
    _modify { yield &pages[Int(position) / Self.pageSize][Int(position) % Self.pageSize] }
  }
}

// MARK: Displaced records

extension RecordNodes {
  /// The records that can not show where their parent link says; see `Manifest.displaced`.
  var displaced: [RecordID] {
    enum State: UInt8 { case unknown, onPath, placed }
    var states = [State](repeating: .unknown, count: positions.count)
    let root = positions[.root] ?? Self.none
    var displaced: [RecordID] = []
    var path: [UInt32] = []
    for start in 0..<UInt32(states.count) where isLive(start) {
      path.removeAll(keepingCapacity: true)
      var current = start
      while current != root, states[Int(current)] == .unknown {
        states[Int(current)] = .onPath
        path.append(current)
        let parent = self[current].parent
        guard parent != Self.none, parent != root else { break }
        guard isLive(parent) else {
          if let record = record(at: current) { displaced.append(record) }
          break
        }
        if states[Int(parent)] == .onPath {
          let ring = path[(path.firstIndex(of: parent) ?? 0)...]
          if let smallest = ring.compactMap(record).min() { displaced.append(smallest) }
        }
        current = parent
      }
      for position in path { states[Int(position)] = .placed }
    }
    return displaced.sorted()
  }

  private func isLive(_ position: UInt32) -> Bool { self[position].entry?.isDeleted == false }

  private func record(at position: UInt32) -> RecordID? { self[position].entry?.record }
}

extension RecordEntry {
  /// The parent among whose children the record is listed; none when it is deleted, and for the root, whatever anybody says of
  /// it: whoever may write the member could have it stand in itself.
  fileprivate var linkedParent: RecordID? { isDeleted || record == .root ? nil : parent }
}
