extension ItemTree {
  /// Calls `body` with both items of every name that does not stand for the same item in both
  /// trees; nil where a tree has no item of that name.
  ///
  /// Loads only what differs: two nodes of one page name are passed over.
  package mutating func forEachDifference(
    to other: inout ItemTree, load: Load, _ body: (Item?, Item?) throws -> Void
  ) throws {
    try ItemNode.compare(&root, &other.root, at: .root, load: load, body)
  }
}

extension ItemNode {
  fileprivate static func compare(
    _ left: inout ItemNode, _ right: inout ItemNode, at place: ItemPlace, load: ItemTree.Load,
    _ body: (Item?, Item?) throws -> Void
  ) throws {
    if let page = left.page, page == right.page { return }
    try left.load(at: place, load)
    try right.load(at: place, load)
    guard case .branch(var leftBranch) = left, case .branch(var rightBranch) = right else {
      // One is small, so that all of both is at most a leaf more than what differs.
      try left.loadAll(at: place, load: load)
      try right.loadAll(at: place, load: load)
      return try compare(left.sortedItems, right.sortedItems, body)
    }
    (left, right) = (.empty, .empty)
    defer { (left, right) = (.branch(leftBranch), .branch(rightBranch)) }
    for child in leftBranch.children.indices {
      try compare(
        &leftBranch.children[child], &rightBranch.children[child], at: place.child(child),
        load: load, body)
    }
  }

  private static func compare(
    _ lefts: [Item], _ rights: [Item], _ body: (Item?, Item?) throws -> Void
  ) throws {
    var (atLeft, atRight) = (0, 0)
    while atLeft < lefts.count || atRight < rights.count {
      if atRight == rights.count
        || atLeft < lefts.count && lefts[atLeft].name < rights[atRight].name
      {
        try body(lefts[atLeft], nil)
        atLeft += 1
      } else if atLeft == lefts.count || rights[atRight].name < lefts[atLeft].name {
        try body(nil, rights[atRight])
        atRight += 1
      } else {
        if lefts[atLeft] != rights[atRight] { try body(lefts[atLeft], rights[atRight]) }
        atLeft += 1
        atRight += 1
      }
    }
  }

  private var sortedItems: [Item] {
    var items: [Item] = []
    collect(into: &items)
    return items.sorted { $0.name < $1.name }
  }
}
