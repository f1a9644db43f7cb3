/// Entries by record and by parent: a table of nodes, each child linked to the next.
///
/// Putting in, moving and taking out cost the same among 100,000 siblings as among two. A parent
/// that is named before it is known has a node without an entry.
struct RecordNodes: Sendable {
  private struct Node: Sendable {
    var entry: RecordEntry?
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
    guard let position = positions[parent] else { return [] }
    var result: [RecordEntry] = []
    var child = self[position].firstChild
    while child != Self.none {
      if let entry = self[child].entry { result.append(entry) }
      child = self[child].nextSibling
    }
    return result
  }

  mutating func set(_ entry: RecordEntry) {
    place(entry, at: makePosition(of: entry.record))
  }

  mutating func remove(_ record: RecordID) {
    guard let position = positions[record] else { return }
    place(nil, at: position)
  }

  private mutating func place(_ entry: RecordEntry?, at position: UInt32) {
    let old = self[position].entry
    count += (entry == nil ? 0 : 1) - (old == nil ? 0 : 1)
    liveCount += (entry?.isDeleted == false ? 1 : 0) - (old?.isDeleted == false ? 1 : 0)
    self[position].entry = entry
    guard old?.linkedParent != entry?.linkedParent else { return }
    if let parent = old?.linkedParent { unlink(position, from: makePosition(of: parent)) }
    if let parent = entry?.linkedParent { link(position, to: makePosition(of: parent)) }
  }

  private mutating func link(_ child: UInt32, to parent: UInt32) {
    let next = self[parent].firstChild
    self[child].nextSibling = next
    self[child].previousSibling = Self.none
    if next != Self.none { self[next].previousSibling = child }
    self[parent].firstChild = child
    self[parent].childCount += 1
  }

  private mutating func unlink(_ child: UInt32, from parent: UInt32) {
    let (previous, next) = (self[child].previousSibling, self[child].nextSibling)
    if previous == Self.none {
      self[parent].firstChild = next
    } else {
      self[previous].nextSibling = next
    }
    if next != Self.none { self[next].previousSibling = previous }
    self[parent].childCount -= 1
  }

  private mutating func makePosition(of record: RecordID) -> UInt32 {
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
    get { pages[Int(position) / Self.pageSize][Int(position) % Self.pageSize] }
    _modify { yield &pages[Int(position) / Self.pageSize][Int(position) % Self.pageSize] }
  }
}

extension RecordEntry {
  /// The parent among whose children the record is listed; none when it is deleted.
  fileprivate var linkedParent: RecordID? { isDeleted ? nil : parent }
}
