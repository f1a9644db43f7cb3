/// The files of a record but `record.md`: the canonical hash tree of `Docs/Format.md` section 8.
///
/// A set of items has one tree, whatever order they came in. A value type whose copies share what
/// they have in common. Pages that are not loaded yet are known by name only, and are loaded
/// by the closure that an operation is given; loaded pages stay in the tree. What a loaded page
/// holds is checked against its place in the tree, so a forged tree throws `ModelError` and can
/// not keep the reader busy.
package struct ItemTree: Sendable {
  /// Gives the decoded content of the page object with this name.
  package typealias Load = (ContentDigest) throws -> ItemPage

  var root: ItemNode

  /// The tree without items.
  package init() { root = .empty }

  /// The tree whose root is this page object; nothing is loaded.
  package static func stored(root: ContentDigest) -> ItemTree {
    ItemTree(root: .stored(root))
  }

  /// The tree with these items; of two with one name the later counts.
  package init(items: some Sequence<Item>) {
    var byName: [FileName: Item] = [:]
    for item in items { byName[item.name] = item }
    root = ItemNode(items: byName.values.sorted { $0.name < $1.name }, depth: 0, page: nil)
  }

  init(root: ItemNode) { self.root = root }

  package var isEmpty: Bool { if case .empty = root { true } else { false } }

  /// The name of the page at the root, if it is known.
  package var rootPage: ContentDigest? {
    switch root {
    case .empty: nil
    case .stored(let name): name
    case .leaf(let leaf): leaf.page
    case .branch(let branch): branch.page
    }
  }

  /// The page at the root, if nothing is loaded yet.
  package var unloadedRoot: ContentDigest? {
    if case .stored(let name) = root { name } else { nil }
  }

  /// The item of this name, tombstones included. Loads the pages on its path.
  package mutating func item(named name: FileName, load: Load) throws -> Item? {
    try root.item(named: name, path: ItemPath(of: name), load: load)
  }

  /// Puts an item in, in the place of the one of its name. Loads the pages on its path.
  package mutating func set(_ item: Item, load: Load) throws {
    try root.set(item, path: ItemPath(of: item.name), load: load)
  }

  /// Takes the item of this name out, if there is one; a tombstone is `set`, not this. Loads
  /// the pages on its path, and some next to it; when that throws, the tree is as before.
  package mutating func remove(_ name: FileName, load: Load) throws {
    var changed = root
    try changed.remove(name, path: ItemPath(of: name), load: load)
    root = changed
  }

  /// Loads every page.
  package mutating func loadAll(load: Load) throws {
    try root.loadAll(at: .root, load: load)
  }

  /// Every item sorted by name, tombstones included. Loads every page.
  package mutating func all(load: Load) throws -> [Item] {
    try loadAll(load: load)
    return loadedItems.sorted { $0.name < $1.name }
  }

  /// The items of the loaded pages, in the order of the tree.
  package var loadedItems: [Item] {
    var items: [Item] = []
    root.collect(into: &items)
    return items
  }

  /// The number of items in the loaded pages.
  package var loadedCount: Int { root.loadedCount }

  /// Walks over every page and item without keeping what it loads. `page` is told each page's name
  /// before it is loaded, and returns false to pass over it and all below it.
  package func visit(
    load: Load, page: (ContentDigest) throws -> Bool, item: (Item) throws -> Void
  ) throws {
    try root.visit(
      at: .root, load: load, page: page, item: item, gap: { _, error in throw error })
  }

  /// Walks over every item that can be read, without keeping what it loads. `gap` is told of each page that cannot be
  /// loaded, or is none, and at which place in the tree: the names below it are not known.
  package func visitReadable(
    load: Load, item: (Item) throws -> Void, gap: (ItemPlace, any Error) throws -> Void
  ) throws {
    try root.visit(at: .root, load: load, page: { _ in true }, item: item, gap: gap)
  }
}

extension ItemTree: Equatable {
  /// Whether both are known to hold the same items: a page that is not loaded equals only a page of
  /// its name. Two trees with everything loaded are equal if and only if their items are.
  package static func == (lhs: ItemTree, rhs: ItemTree) -> Bool { lhs.root == rhs.root }
}

// MARK: - Encoding

extension ItemTree {
  /// How a tree stands in a record revision.
  package enum Root: Hashable, Sendable {
    /// Few items, in the revision itself; none at all for the empty tree.
    case inline([Item])
    /// The page object at the root.
    case stored(ContentDigest)
  }

  /// Encodes the pages that are not stored yet, children before parents, and returns the root.
  ///
  /// `store` puts a page where it can be loaded from and returns its name. Pages that were loaded or
  /// stored before and did not change are not encoded again: after one change in a tree of 100,000 items it is
  /// called four times or so.
  package mutating func encodeNewPages(
    store: (_ page: [UInt8]) throws -> ContentDigest
  ) rethrows -> Root {
    switch root {
    case .empty: return .inline([])
    case .leaf(let leaf):
      let isSmall = ItemPage.leaf(leaf.items).encoded().count <= Limits.inlinePageBytes
      if isSmall { return .inline(leaf.items) }
    case .stored, .branch: break
    }
    guard let name = try root.encodeNewPages(store: store) else {
      preconditionFailure("only an empty node has no page")
    }
    return .stored(name)
  }
}
