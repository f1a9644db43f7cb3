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
      #expect(Manifest(other.sortedEntries).conflicts == manifest.conflicts)
    }
    for record in records {
      let expected = manifest.entries.filter { $0.parent == record && !$0.isDeleted }
      #expect(Set(manifest.children(of: record)) == Set(expected))
      #expect(manifest.childCount(of: record) == expected.count)
    }
    #expect(manifest.liveCount == manifest.entries.count { !$0.isDeleted })
    for record in records {
      let rivals = manifest.rivals(of: record)
      #expect(rivals == manifest.conflicts[record] ?? [manifest[record]].compactMap(\.self))
      let maximal = entries.filter { entry in
        entry.record == record && !entries.contains { $0.record == record && knowsMore($0, entry) }
      }
      #expect(Set(rivals) == Set(maximal))
    }
  }

  /// Whether the first entry counts where the second one is known: for two that know the same, whichever shows first.
  private func knowsMore(_ one: RecordEntry, _ other: RecordEntry) -> Bool {
    switch one.compare(to: other) {
    case .dominates: true
    case .equal: (one.time, one.device, one.revision) > (other.time, other.device, other.revision)
    case .dominated, .concurrent: false
    }
  }

  /// Of two that know the same the one of the current epoch counts, whichever comes first.
  @Test func epochsCountWhateverTheOrderWas() throws {
    var (lateCount, conflictCount) = (0, 0)
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let devices: [DeviceID] = [random.id(), random.id(), random.id()]
      let records: [RecordID] = [random.id(), random.id()]
      let epochs: [StatementID?] = [nil, random.id(), random.id()]
      var entries: [(entry: RecordEntry, epoch: StatementID?)] = []
      for _ in 0..<8 {
        var entry = try random.entry(record: records[random.number(below: 2)], devices: devices)
        entries.append((entry, epochs[random.number(below: 3)]))
        // The same version under the keys of another epoch.
        entry.revision = random.id()
        entries.append((entry, epochs[random.number(below: 3)]))
      }
      let manifest = joined(entries)
      for _ in 0..<5 {
        let other = joined(entries.shuffled(using: &random))
        #expect(Set(other.entries) == Set(manifest.entries))
        #expect(other.conflicts == manifest.conflicts)
        #expect(Set(other.lateEntries) == Set(manifest.lateEntries))
      }
      for late in manifest.lateEntries {
        #expect(entries.contains { $0.entry == late && $0.epoch != nil })
      }
      lateCount += manifest.lateEntries.count
      conflictCount += manifest.conflicts.count
    }
    #expect(lateCount > 0 && conflictCount > 0)
  }

  private func joined(_ entries: [(entry: RecordEntry, epoch: StatementID?)]) -> Manifest {
    var manifest = Manifest()
    for (entry, epoch) in entries {
      let isNews = manifest.isNews(entry, from: epoch)
      #expect((manifest.apply(entry, from: epoch) != .unchanged) == isNews)
    }
    return manifest
  }

  /// From any part of what is known, and some of what it replaced.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func additionsMakeOneManifestTheOther(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let devices: [DeviceID] = [random.id(), random.id(), random.id()]
    let records: [RecordID] = (0..<8).map { _ in random.id() }
    let entries = try (0..<60).map { _ in
      try random.entry(record: records[random.number(below: 8)], devices: devices)
    }
    let wanted = Manifest(entries).sortedEntries
    for count in 0...entries.count {
      let part = Manifest(entries.shuffled(using: &random).prefix(count))
      let additions = try #require(part.additions(toBecome: wanted))
      let joined = Manifest(part.sortedEntries + additions)
      #expect(joined.sortedEntries == wanted)
      #expect(Set(additions).isDisjoint(with: part.sortedEntries))
    }
    #expect(Manifest(entries).additions(toBecome: wanted) == [])
    // Of a manifest that knows more there is nothing that makes it the lesser one.
    let more = Manifest(entries + [try random.entry(devices: devices)])
    #expect(more.additions(toBecome: wanted) == nil)
  }

  @Test func aMergedEntryEndsAConflict() throws {
    var random = SeededRandom(seed: 6)
    let devices: [DeviceID] = [random.id(), random.id()]
    var left = try random.entry(devices: devices)
    var right = left
    left.version = VersionVector(device: devices[0], counter: 1)
    right.version = VersionVector(device: devices[1], counter: 1)
    var manifest = Manifest([left])
    #expect(manifest.apply(right) == .concurrent)
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
    #expect(try manifest([(1, 0), (2, 1), (3, 2)]).displaced.isEmpty)
  }

  @Test func childrenOfWhatIsDeletedOrUnknownShowUnderTheRoot() throws {
    let manifest = try manifest([(1, 0), (2, 1), (3, 2), (5, 4)], deleted: [1])
    #expect(manifest.displaced == [try id(2), try id(5)])
  }

  /// Whoever may write the member can say anything of its root.
  @Test(arguments: [0, 2, 7])
  func theRootStandsInNothing(parent: Int) throws {
    let manifest = try manifest([(0, parent), (1, 0), (2, 1)])
    #expect(manifest.children(of: .root).map(\.record) == [try id(1)])
    #expect(try manifest.children(of: id(2)).isEmpty)
    #expect(manifest.displaced.isEmpty)
  }

  @Test func aRingIsOpenedAtItsSmallestRecord() throws {
    let manifest = try manifest([(9, 7), (3, 5), (5, 7), (7, 3), (2, 9), (6, 6)])
    #expect(manifest.displaced == [try id(3), try id(6)])
  }

  /// Every move and deletion changes the links of what was there before, as a running mount does.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func nothingIsInvisibleWhateverWasMoved(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let device: DeviceID = random.id()
    var manifest = Manifest()
    for step in 1...60 as ClosedRange<UInt64> {
      var entry = try random.entry(
        record: id(1 + random.number(below: 9)), parent: id(random.number(below: 12)),
        devices: [device])
      entry.version = VersionVector(device: device, counter: step)
      entry.isDeleted = random.number(below: 4) == 0
      #expect(manifest.apply(entry) != .unchanged)
      #expect(manifest.displaced == displaced(in: manifest))
    }
    let visible = Set(manifest.displaced).union(manifest.children(of: .root).map(\.record))
    var shown: Set<RecordID> = []
    func show(_ record: RecordID) {
      guard shown.insert(record).inserted else { return }
      for child in manifest.children(of: record) { show(child.record) }
    }
    visible.forEach(show)
    #expect(shown == Set(manifest.entries.filter { !$0.isDeleted }.map(\.record)))
  }

  /// What `Manifest.displaced` promises, said as plainly as can be.
  private func displaced(in manifest: Manifest) -> [RecordID] {
    let live = manifest.entries.filter { !$0.isDeleted }
    func parent(_ record: RecordID) -> RecordID? {
      manifest[record].flatMap { $0.isDeleted ? nil : $0.parent }
    }
    return live.filter { entry in
      guard entry.parent != .root else { return false }
      guard let first = entry.parent, parent(first) != nil else { return true }
      var ring = [entry.record]
      var next = first
      while next != entry.record {
        guard let after = parent(next), !ring.contains(next) else { return false }
        ring.append(next)
        next = after
      }
      return ring.min() == entry.record
    }.map(\.record).sorted()
  }
}
