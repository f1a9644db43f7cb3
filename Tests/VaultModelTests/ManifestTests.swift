import Fuzzing
import Testing
import VaultModel

@Suite struct ManifestTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func isTheSameWhateverTheOrderWas(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let devices: [DeviceID] = [random.id(), random.id(), random.id()]
    let records: [RecordID] = (0..<8).map { _ in random.id() }
    let entries = try (0..<200).map { _ in
      try random.entry(
        record: records[random.number(below: 8)], parent: records[random.number(below: 8)],
        devices: devices)
    }
    let manifest = Manifest(entries)
    for _ in 0..<5 {
      var other = Manifest(entries.shuffled(using: &random))
      #expect(Set(other.entries) == Set(manifest.entries))
      #expect(other.conflicts == manifest.conflicts)
      for entry in entries {
        // What is joined already changes nothing.
        let change = other.apply(entry)
        #expect(change == .unchanged)
      }
      #expect(Manifest(other.checkpoint().flatMap(\.entries)).conflicts == manifest.conflicts)
    }
    for record in records {
      let expected = manifest.entries.filter { $0.parent == record && !$0.isDeleted }
      #expect(Set(manifest.children(of: record)) == Set(expected))
      #expect(manifest.childCount(of: record) == expected.count)
    }
    #expect(manifest.liveCount == manifest.entries.count { !$0.isDeleted })
    #expect(manifest.latestTime == entries.map(\.time).max())
  }

  @Test func aMergedEntryEndsAConflict() throws {
    var random = SeededRandom(seed: 6)
    let devices: [DeviceID] = [random.id(), random.id()]
    var left = try random.entry(devices: devices)
    var right = left
    left.version = VersionVector(device: devices[0], counter: 1)
    right.version = VersionVector(device: devices[1], counter: 1)
    var manifest = Manifest([left])
    #expect(manifest.apply(right) == .concurrent(with: [left]))
    #expect(manifest.conflicts[left.record]?.count == 2)
    var merged = left
    merged.version = left.version.joined(with: right.version)
    #expect(manifest.apply(merged) != .unchanged)
    #expect(manifest.conflicts.isEmpty)
    #expect(manifest[left.record] == merged)
    #expect(manifest.apply(right) == .unchanged)
  }

  @Test func removedRecordsAreForgotten() throws {
    var random = SeededRandom(seed: 2)
    let device: DeviceID = random.id()
    let entries = try (0..<600).map { _ in try random.entry(devices: [device]) }
    var manifest = Manifest(entries)
    manifest.remove(Set(entries.prefix(500).map(\.record)))
    #expect(Set(manifest.entries) == Set(entries.suffix(100)))
    #expect(manifest.count == 100)
    let live = entries.suffix(100).filter { !$0.isDeleted }
    #expect(Set(manifest.children(of: .root)) == Set(live))
    var older = entries[599]
    older.version = VersionVector()
    #expect(manifest.apply(older) == .unchanged)
    manifest.replace(older)
    #expect(manifest[older.record] == older)
  }
}

@Suite struct DisplacedRecordsTests {
  private func manifest(_ links: [(Int, Int)], deleted: Set<Int> = []) throws -> Manifest {
    var random = SeededRandom(seed: 1)
    let device: DeviceID = random.id()
    return Manifest(
      try links.map { child, parent in
        var entry = try random.entry(record: id(child), parent: id(parent), devices: [device])
        entry.isDeleted = deleted.contains(child)
        return entry
      })
  }

  private func id(_ number: Int) throws -> RecordID {
    try #require(RecordID([UInt8](repeating: 0, count: 15) + [UInt8(number)]))
  }

  @Test func whatIsWellPlacedStays() throws {
    #expect(DisplacedRecords.find(in: try manifest([(1, 0), (2, 1), (3, 2)])).isEmpty)
  }

  @Test func childrenOfWhatIsDeletedOrUnknownShowUnderTheRoot() throws {
    let manifest = try manifest([(1, 0), (2, 1), (3, 2), (5, 4)], deleted: [1])
    #expect(DisplacedRecords.find(in: manifest) == [try id(2), try id(5)])
  }

  @Test func aRingIsOpenedAtItsSmallestRecord() throws {
    let manifest = try manifest([(9, 7), (3, 5), (5, 7), (7, 3), (2, 9), (6, 6)])
    #expect(DisplacedRecords.find(in: manifest) == [try id(3), try id(6)])
  }
}
