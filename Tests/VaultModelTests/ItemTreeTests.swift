import Fuzzing
import Testing
import VaultModel

@Suite struct ItemTreeTests {
  private func noLoad(_ name: ContentDigest) throws -> ItemPage {
    throw ModelError.malformed(what: "page", reason: "nothing is to be loaded")
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func behavesAsADictionary(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let shelf = PageShelf()
    let names = try (0..<150).map { try fileName("file \($0)") }
    var tree = ItemTree()
    var expected: [FileName: Item] = [:]
    for step in 0..<600 {
      let name = names[random.number(below: names.count)]
      // Phases of growing and of shrinking, so that leaves split and branches collapse.
      if random.number(below: 10) < (step / 150 % 2 == 0 ? 8 : 2) {
        let item = random.item(named: name)
        try tree.set(item, load: shelf.load)
        expected[name] = item
      } else {
        try tree.remove(name, load: shelf.load)
        expected[name] = nil
      }
      let probe = names[random.number(below: names.count)]
      #expect(try tree.item(named: probe, load: shelf.load) == expected[probe])
      if step % 20 == 19 {
        let root = tree.encodeNewPages(store: shelf.store)
        var fresh = ItemTree(items: expected.values)
        #expect(fresh.encodeNewPages(store: shelf.store) == root, "seed \(seed) step \(step)")
        if case .stored(let name) = root { tree = .stored(root: name) }
      }
    }
    let all = try tree.all(load: shelf.load)
    #expect(all == expected.values.sorted { $0.name < $1.name })
  }

  @Test func isTheSameWhateverTheOrderWas() throws {
    var random = SeededRandom(seed: 9)
    let items = try (0..<500).map { random.item(named: try fileName("n\($0)")) }
    let shelf = PageShelf()
    var tree = ItemTree(items: items)
    let root = tree.encodeNewPages(store: shelf.store)
    for _ in 0..<3 {
      var other = ItemTree()
      let extra = try (0..<200).map { random.item(named: try fileName("extra\($0)")) }
      for item in (items + extra).shuffled(using: &random) { try other.set(item, load: noLoad) }
      for item in extra.shuffled(using: &random) { try other.remove(item.name, load: noLoad) }
      #expect(other == tree)
      #expect(other.encodeNewPages(store: shelf.store) == root)
    }
  }

  @Test func aChangeAmong100000ItemsStoresOnlyItsPath() throws {
    var random = SeededRandom(seed: 4)
    let shelf = PageShelf()
    var whole = ItemTree(
      items: try (0..<100_000).map {
        Item(name: try fileName("\($0).dcm"), file: random.id(), time: .zero)
      })
    guard case .stored(let root) = whole.encodeNewPages(store: shelf.store) else {
      Issue.record("a large tree is stored")
      return
    }
    var tree = ItemTree.stored(root: root)
    let before = shelf.pages.count
    try tree.set(random.item(named: fileName("77.dcm")), load: shelf.load)
    _ = tree.encodeNewPages(store: shelf.store)
    #expect(shelf.pages.count - before <= 5)
    #expect(shelf.loads <= 5)
    #expect(whole.loadedCount == 100_000)
    #expect(try tree.all(load: shelf.load).count == 100_000)
  }

  @Test func fewSmallItemsStandInTheRevision() throws {
    let item = Item(name: try fileName("a"), file: .zero, time: .zero)
    let shelf = PageShelf()
    var tree = ItemTree(items: [item])
    #expect(tree.encodeNewPages(store: shelf.store) == .inline([item]))
    var empty = ItemTree()
    #expect(empty.isEmpty)
    #expect(empty.encodeNewPages(store: shelf.store) == .inline([]))
    #expect(shelf.pages.isEmpty)
  }

  @Test func aTreeWhoseChildrenAreAllOnePageIsRefused() throws {
    let shelf = PageShelf()
    let item = Item(name: try fileName("a"), file: .zero, time: .zero)
    var page = shelf.store(ItemPage.leaf([item]).encoded())
    for _ in 0..<16 {
      page = shelf.store(ItemPage.branch(Array(repeating: page, count: 16)).encoded())
    }
    var forged = ItemTree.stored(root: page)
    #expect(throws: ModelError.self) { try forged.loadAll(load: shelf.load) }
    #expect(shelf.loads < 300)
  }

  @Test func aTreeThatIsTooDeepIsRefused() throws {
    let shelf = PageShelf()
    var page = shelf.store(ItemPage.leaf([]).encoded())
    for _ in 0..<40 {
      page = shelf.store(ItemPage.branch(Array(repeating: page, count: 16)).encoded())
    }
    var forged = ItemTree.stored(root: page)
    #expect(throws: ModelError.self) { try forged.loadAll(load: shelf.load) }
    #expect(throws: ModelError.self) { try forged.item(named: fileName("x"), load: shelf.load) }
  }
}
