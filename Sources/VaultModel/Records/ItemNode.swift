/// A node of the item tree in memory.
///
/// A leaf and a branch remember the name of the page that they were loaded from or stored as until
/// something below them changes.
enum ItemNode: Sendable {
  struct Leaf: Sendable {
    /// Sorted by name, never empty.
    var items: [Item]
    var page: ContentDigest?
  }

  struct Branch: Sendable {
    /// Sixteen; more than `Limits.leafItems` items stand below them.
    var children: [ItemNode]
    var page: ContentDigest?
  }

  case empty
  case stored(ContentDigest)
  case leaf(Leaf)
  case branch(Branch)

  /// The canonical node at this depth with these items, which are sorted by name.
  init(items: [Item], depth: Int, page: ContentDigest?) {
    if items.isEmpty {
      self = .empty
    } else if items.count <= Limits.leafItems || depth == Limits.treeDepth {
      self = .leaf(Leaf(items: items, page: page))
    } else {
      var parts = [[Item]](repeating: [], count: ItemPage.childCount)
      for item in items { parts[ItemPath(of: item.name).child(at: depth)].append(item) }
      self = .branch(
        Branch(
          children: parts.map { ItemNode(items: $0, depth: depth + 1, page: nil) }, page: page))
    }
  }

  /// The node of a loaded page, whose form and items are checked against its place.
  init(page: ItemPage, name: ContentDigest, place: ItemPlace) throws(ModelError) {
    switch page {
    case .leaf(let items):
      guard !items.isEmpty else { throw Self.forged("a leaf is empty") }
      guard items.count <= Limits.leafItems || place.depth == Limits.treeDepth else {
        throw Self.forged("a leaf has too many items")
      }
      guard items.allSatisfy({ place.holds($0.name) }) else {
        throw Self.forged("an item stands in the wrong leaf")
      }
      self = .leaf(Leaf(items: items, page: name))
    case .branch(let children):
      guard place.depth < Limits.treeDepth else { throw Self.forged("it is too deep") }
      guard children.contains(where: { $0 != nil }) else { throw Self.forged("a branch is empty") }
      self = .branch(
        Branch(children: children.map { $0.map(ItemNode.stored) ?? .empty }, page: name))
    }
  }

  private static func forged(_ reason: String) -> ModelError {
    .malformed(what: "item tree", reason: reason)
  }

  /// Loads this node if it is not; its children may still not be.
  mutating func load(at place: ItemPlace, _ load: ItemTree.Load) throws {
    guard case .stored(let name) = self else { return }
    self = try ItemNode(page: load(name), name: name, place: place)
  }

  mutating func item(
    named name: FileName, path: ItemPath, depth: Int = 0, load: ItemTree.Load
  ) throws -> Item? {
    try self.load(at: ItemPlace(on: path, depth: depth), load)
    switch self {
    case .empty, .stored: return nil
    case .leaf(let leaf):
      let position = leaf.items.position(of: name)
      return position.isFound ? leaf.items[position.index] : nil
    case .branch(var branch):
      self = .empty
      defer { self = .branch(branch) }
      return try branch.children[path.child(at: depth)].item(
        named: name, path: path, depth: depth + 1, load: load)
    }
  }

  mutating func set(
    _ item: Item, path: ItemPath, depth: Int = 0, load: ItemTree.Load
  ) throws {
    try self.load(at: ItemPlace(on: path, depth: depth), load)
    switch self {
    case .empty, .stored: self = .leaf(Leaf(items: [item], page: nil))
    case .leaf(var leaf):
      // Emptied while it is changed, so that the array has one owner and is changed in place.
      self = .empty
      let position = leaf.items.position(of: item.name)
      if position.isFound {
        if leaf.items[position.index] != item { leaf.page = nil }
        leaf.items[position.index] = item
        self = .leaf(leaf)
      } else {
        leaf.items.insert(item, at: position.index)
        self = ItemNode(items: leaf.items, depth: depth, page: nil)
      }
    case .branch(var branch):
      self = .empty
      defer { self = .branch(branch) }
      let child = path.child(at: depth)
      try branch.children[child].set(item, path: path, depth: depth + 1, load: load)
      if branch.children[child].page == nil { branch.page = nil }
    }
  }

  mutating func remove(
    _ name: FileName, path: ItemPath, depth: Int = 0, load: ItemTree.Load
  ) throws {
    try self.load(at: ItemPlace(on: path, depth: depth), load)
    switch self {
    case .empty, .stored: return
    case .leaf(var leaf):
      let position = leaf.items.position(of: name)
      guard position.isFound else { return }
      leaf.items.remove(at: position.index)
      self = ItemNode(items: leaf.items, depth: depth, page: nil)
    case .branch(var branch):
      self = .empty
      defer { self = branch.isSmall ? branch.collapsed(depth: depth) : .branch(branch) }
      let place = ItemPlace(on: path, depth: depth)
      let child = path.child(at: depth)
      let before = branch.children[child].page
      try branch.children[child].remove(name, path: path, depth: depth + 1, load: load)
      if before != nil, branch.children[child].page == before { return }
      branch.page = nil
      try branch.loadWhileSmall(at: place, load: load)
    }
  }

  mutating func loadAll(at place: ItemPlace, load: ItemTree.Load) throws {
    try self.load(at: place, load)
    guard case .branch(var branch) = self else { return }
    self = .empty
    defer { self = .branch(branch) }
    for child in branch.children.indices {
      try branch.children[child].loadAll(at: place.child(child), load: load)
    }
  }

  func visit(
    at place: ItemPlace, load: ItemTree.Load, page: (ContentDigest) throws -> Bool,
    item: (Item) throws -> Void, gap: (ItemPlace, any Error) throws -> Void
  ) throws {
    if let name = self.page, try !page(name) { return }
    var node = self
    do { try node.load(at: place, load) } catch { return try gap(place, error) }
    switch node {
    case .empty, .stored: return
    case .leaf(let leaf): for each in leaf.items { try item(each) }
    case .branch(let branch):
      for (index, child) in branch.children.enumerated() {
        try child.visit(
          at: place.child(index), load: load, page: page, item: item, gap: gap)
      }
    }
  }

  /// Stores the pages below that are new, then this one; nil for an empty node.
  mutating func encodeNewPages(
    store: (_ page: [UInt8]) throws -> ContentDigest
  ) rethrows -> ContentDigest? {
    if let page { return page }
    switch self {
    case .empty, .stored: return nil
    case .leaf(var leaf):
      let page = try store(ItemPage.leaf(leaf.items).encoded())
      leaf.page = page
      self = .leaf(leaf)
      return page
    case .branch(var branch):
      self = .empty
      defer { self = .branch(branch) }
      var names: [ContentDigest?] = []
      for child in branch.children.indices {
        names.append(try branch.children[child].encodeNewPages(store: store))
      }
      branch.page = try store(ItemPage.branch(names).encoded())
      return branch.page
    }
  }

  func collect(into items: inout [Item]) {
    switch self {
    case .empty, .stored: return
    case .leaf(let leaf): items += leaf.items
    case .branch(let branch): for child in branch.children { child.collect(into: &items) }
    }
  }

  var loadedCount: Int {
    switch self {
    case .empty, .stored: 0
    case .leaf(let leaf): leaf.items.count
    case .branch(let branch): branch.children.reduce(0) { $0 + $1.loadedCount }
    }
  }

  /// The name of the page that this node is stored as; nil when it is new or changed, or empty.
  var page: ContentDigest? {
    switch self {
    case .empty: nil
    case .stored(let name): name
    case .leaf(let leaf): leaf.page
    case .branch(let branch): branch.page
    }
  }
}

extension ItemNode.Branch {
  /// Whether at most a leaf's items stand below, all of them loaded: then it has to be a leaf.
  fileprivate var isSmall: Bool {
    var count = 0
    for child in children {
      switch child {
      case .empty: continue
      case .leaf(let leaf): count += leaf.items.count
      case .stored, .branch: return false
      }
      if count > Limits.leafItems { return false }
    }
    return true
  }

  fileprivate func collapsed(depth: Int) -> ItemNode {
    var items: [Item] = []
    for child in children { child.collect(into: &items) }
    return ItemNode(items: items.sorted { $0.name < $1.name }, depth: depth, page: nil)
  }

  /// Loads children until it is known whether `isSmall`.
  fileprivate mutating func loadWhileSmall(at place: ItemPlace, load: ItemTree.Load) throws {
    var count = 0
    for child in children {
      if case .branch = child { return }
      count += child.loadedCount
    }
    for child in children.indices where count <= Limits.leafItems {
      guard case .stored = children[child] else { continue }
      try children[child].load(at: place.child(child), load)
      if case .branch = children[child] { return }
      count += children[child].loadedCount
    }
  }
}

extension ItemNode: Equatable {
  static func == (lhs: ItemNode, rhs: ItemNode) -> Bool {
    if let left = lhs.page, let right = rhs.page, left == right { return true }
    switch (lhs, rhs) {
    case (.empty, .empty): return true
    case (.leaf(let left), .leaf(let right)): return left.items == right.items
    case (.branch(let left), .branch(let right)): return left.children == right.children
    default: return false
    }
  }
}

extension [Item] {
  /// Where an item of this name stands or, if it is not found, belongs among items sorted by name.
  func position(of name: FileName) -> (index: Int, isFound: Bool) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return (low, low < count && self[low].name == name)
  }
}
