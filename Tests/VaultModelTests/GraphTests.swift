import Fuzzing
import Testing
import VaultModel

/// What names what, and in which order a walk comes to it.
@Suite struct GraphTests {
  private func digest(_ number: UInt64) -> ContentDigest {
    var random = SeededRandom(seed: number)
    return random.id()
  }

  private func item(
    _ name: String, size: UInt64, _ content: Item.Content, isDeleted: Bool = false
  ) throws -> Item {
    var random = SeededRandom(seed: size)
    return Item(
      name: try fileName(name), file: random.id(), size: size, content: content, time: .zero,
      isDeleted: isDeleted)
  }

  private let chunk = UInt64(Limits.chunkBytes)

  @Test func eachChunkIsNeededAsFarAsTheFileGoes() throws {
    let (one, two) = (digest(1), digest(2))
    let file = try item("scan", size: 2 * chunk + 7, .chunks([one, nil, two]))
    #expect(file.references.map(\.digest) == [one, two])
    #expect(file.references.map(\.contentByteCount) == [Int(chunk), 7])
    #expect(file.references.allSatisfy { $0.kind == .chunk && $0.item == file.name })
  }

  @Test func aListOfChunksKnowsWhichPartOfTheFileItIs() throws {
    let capacity = UInt64(ChunkIndex.capacity)
    let lists = [digest(1), digest(2)]
    let film = try item("film", size: (capacity + 1) * chunk + 3, .indexes(lists))
    let references = film.references
    #expect(references.map(\.digest) == lists)
    #expect(references.map(\.byteCount) == [capacity * chunk, chunk + 3])
    // The content of a list is not what is needed of the file.
    #expect(references.allSatisfy { $0.kind == .index && $0.contentByteCount == nil })
    let last = references[1].references(in: .index(ChunkIndex(chunks: [digest(3), digest(4)])))
    #expect(last.map(\.contentByteCount) == [Int(chunk), 3])
    // A list that says more than the file has.
    let more = references[1].references(
      in: .index(ChunkIndex(chunks: [nil, digest(3), digest(4)])))
    #expect(more.map(\.contentByteCount) == [3, 0])
  }

  /// A well-formed tombstone may say that it has content.
  @Test func aTombstoneNeedsNothing() throws {
    let gone = try item("gone", size: 3, .chunks([digest(1)]), isDeleted: true)
    let page = ItemPage.leaf([gone, try item("here", size: 3, .chunks([digest(2)]))])
    let decoded = try ObjectContent(decoding: page.encoded(), .page)
    let root = ObjectReference(digest(9), .page)
    #expect(root.references(in: decoded).map(\.digest) == [digest(2)])
  }

  @Test func aWalkComesToEverythingOnce() throws {
    let shelf = PageShelf()
    let items = try (0..<400).map {
      try item("\($0).dcm", size: 5, .chunks([digest(UInt64($0) + 1000)]))
    }
    var tree = ItemTree(items: items)
    guard case .stored(let root) = tree.encodeNewPages(store: shelf.store) else {
      Issue.record("so many items have pages")
      return
    }
    var walk = GraphWalk(from: [ObjectReference(root, .page)])
    var entered: [ContentDigest] = []
    var open: [ContentDigest] = []
    while let step = walk.next() {
      switch step {
      case .enter(let reference):
        entered.append(reference.digest)
        guard reference.kind == .page else { continue }
        let content = try ObjectContent(
          decoding: try #require(shelf.pages[reference.digest]), .page)
        try reference.check(content)
        open.append(reference.digest)
        walk.descend(into: reference.references(in: content))
      case .leave(let reference): #expect(open.popLast() == reference.digest)
      }
    }
    #expect(open.isEmpty && entered.first == root)
    #expect(entered.count == Set(entered).count)
    let chunks = items.flatMap { $0.references.map(\.digest) }
    #expect(Set(entered) == Set(shelf.pages.keys).union(chunks))
  }

  @Test func aWalkGoesOnAfterWhatItPassesOver() {
    let all = (1...3).map { ObjectReference(digest(UInt64($0)), .page) }
    var walk = GraphWalk(from: [all[0], all[2]])
    #expect(walk.next() == .enter(all[0]))
    walk.descend(into: [all[1]])
    #expect(walk.next() == .enter(all[1]))
    #expect(walk.next() == .leave(all[0]))
    #expect(walk.next() == .enter(all[2]))
    #expect(walk.next() == nil)
  }

  /// Pages can be named deeper than any name can stand: nobody follows them, and nothing traps.
  @Test func pagesThatAreTooDeepNameNothing() throws {
    var reference = ObjectReference(digest(0), .page)
    var depth = 0
    while depth < 100 {
      var children = [ContentDigest?](repeating: nil, count: 16)
      children[15] = digest(UInt64(depth) + 1)
      let content = ObjectContent.page(.branch(children))
      guard let next = reference.references(in: content).first else { break }
      try reference.check(content)
      reference = next
      depth += 1
    }
    #expect(depth == Limits.treeDepth)
    let last = ObjectContent.page(
      .branch([digest(1)] + [ContentDigest?](repeating: nil, count: 15)))
    #expect(throws: ModelError.self) { try reference.check(last) }
  }

  @Test func whatStandsInTheWrongPlaceIsRefusedByWhoReadsIt() throws {
    let leaf = ObjectContent.page(.leaf([try item("a", size: 0, .none)]))
    let branch = ObjectContent.page(.branch([ContentDigest?](repeating: digest(1), count: 16)))
    let root = ObjectReference(digest(0), .page)
    let held = root.references(in: branch).filter { child in
      do throws(ModelError) { try child.check(leaf) } catch { return false }
      return true
    }
    #expect(held.count == 1)
  }
}
