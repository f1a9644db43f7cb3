import Fuzzing
import Testing
import VaultModel

@Suite struct JoinTests {
  private let shelf = PageShelf()

  private func revision(_ random: inout SeededRandom) throws -> NamedRevision {
    let device: DeviceID = random.id()
    let items = try (0..<60).filter { _ in random.number(below: 3) > 0 }.map {
      var item = random.item(named: try fileName("file \($0)"))
      // Few different contents, so that some are equal on both sides.
      item.file = .zero
      item.linkRecords = []
      item.xattrs = []
      (item.size, item.content) = (1, .inline([UInt8(random.number(below: 3))]))
      return random.number(below: 6) == 0 ? item.tombstone(at: item.time) : item
    }
    var revision = RecordRevision(
      record: .zero,
      place: RecordPlace(
        parent: nil, title: try fileName("t\(random.number(below: 3))"),
        isDeleted: random.number(below: 5) == 0),
      placeTime: random.time(),
      attributes: RecordAttributes(mode: UInt32(0o700 + random.number(below: 3))),
      attributesTime: random.time(), version: VersionVector(device: device, counter: 1),
      time: random.time(), device: device,
      document: random.bool() ? random.item(named: .record) : nil, items: ItemTree(items: items))
    return NamedRevision(revision, named: shelf.store(try encode(&revision)))
  }

  private func encode(_ revision: inout RecordRevision) throws -> [UInt8] {
    revision.encode(storingPages: shelf.store)
  }

  private func join(_ a: NamedRevision, _ b: NamedRevision) throws -> NamedRevision {
    var merged = try Join.merge(a, b, load: shelf.load).merged
    return NamedRevision(merged, named: shelf.store(try encode(&merged)))
  }

  /// The revision without the names of those that it came from.
  private func bytes(_ named: NamedRevision) throws -> [UInt8] {
    var revision = named.revision
    revision.previous = []
    return try encode(&revision)
  }

  @Test(arguments: Array(1...12) as [UInt64])
  func theOrderOfJoiningDoesNotMatter(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (a, b, c) = (try revision(&random), try revision(&random), try revision(&random))
    let (ab, ba) = (try join(a, b), try join(b, a))
    #expect(ab.digest == ba.digest)
    #expect(try bytes(join(ab, c)) == bytes(join(a, join(b, c))))
    #expect(try bytes(join(a, a)) == bytes(a))
    #expect(try bytes(join(ab, a)) == bytes(ab))
    #expect(try bytes(join(ab, b)) == bytes(ab))
  }

  private func base() throws -> RecordRevision {
    var random = SeededRandom(seed: 77)
    let items = try ["x", "y"].map {
      Item(
        name: try fileName($0), file: random.id(), size: 1, content: .inline([0]),
        time: HybridTime(milliseconds: 1))
    }
    return RecordRevision(
      record: .zero, place: RecordPlace(parent: nil, title: try fileName("Emma")), placeTime: .zero,
      attributesTime: .zero, version: VersionVector(device: .zero, counter: 1), time: .zero,
      device: .zero, items: ItemTree(items: items))
  }

  private func edited(
    _ revision: RecordRevision, _ item: String, _ content: UInt8, at milliseconds: UInt64
  ) throws -> RecordRevision {
    var result = revision
    let old = try result.item(named: fileName(item), load: shelf.load)
    var new = try #require(old)
    new.content = .inline([content])
    new.time = HybridTime(milliseconds: milliseconds)
    try result.set(new, load: shelf.load)
    return result
  }

  private let names: (ContentDigest, ContentDigest) = {
    var random = SeededRandom(seed: 12)
    return (random.id(), random.id())
  }()

  @Test func editsOfDifferentFilesLoseNothing() throws {
    let base = try base()
    let (a, b) = (try edited(base, "x", 1, at: 5), try edited(base, "y", 2, at: 6))
    var outcome = try Join.merge(
      NamedRevision(a, named: names.0), NamedRevision(b, named: names.1), base: base,
      load: shelf.load)
    #expect(outcome.losers.isEmpty)
    for (text, content) in [("x", 1), ("y", 2)] as [(String, UInt8)] {
      let item = try outcome.merged.item(named: fileName(text), load: shelf.load)
      #expect(item?.content == .inline([content]))
    }
    #expect(outcome.merged.previous == [names.0, names.1].sorted())
  }

  @Test func theEarlierEditOfOneFileIsReported() throws {
    let base = try base()
    let (a, b) = (try edited(base, "x", 1, at: 5), try edited(base, "x", 2, at: 6))
    let outcome = try Join.merge(
      NamedRevision(a, named: names.0), NamedRevision(b, named: names.1), base: base,
      load: shelf.load)
    var loser = a
    let item = try #require(try loser.item(named: fileName("x"), load: shelf.load))
    #expect(outcome.losers == [Join.Loser(part: .item(item), revision: names.0)])
  }

  @Test func anEditInARecordThatTheOtherDeletedIsReported() throws {
    let base = try base()
    let a = try edited(base, "x", 1, at: 9)
    var b = base
    b.place.isDeleted = true
    b.placeTime = HybridTime(milliseconds: 7)
    let outcome = try Join.merge(
      NamedRevision(b, named: names.1), NamedRevision(a, named: names.0), base: base,
      load: shelf.load)
    #expect(outcome.merged.place.isDeleted)
    #expect(outcome.losers.map(\.revision) == [names.0])
  }
}
