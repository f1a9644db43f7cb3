import BlobStore
import MachineState
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// A lazy vault of which another device has collected what older versions had.
@Suite struct CollectedElsewhereTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID
  /// Of the version of before, and of the one that shows.
  private let chunks: (old: [BlobPath], new: [BlobPath])

  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }

  private static let day: Int64 = 86_400

  /// The laptop is lazy, and has the old version but for its chunks, which the desk collects.
  init() throws {
    family = try Family()
    let (desk, laptop) = (family[0], family[1])
    record = try desk.write("Scan", "v1")
    let old = try Self.put(3, into: record, by: desk)
    try desk.sync(usb)
    try StateFolder(store: laptop.stateStore).storeLazySettings(LazySettings())
    try laptop.reopen()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try laptop.sync(usb)
    try laptop.write("Laptop", "v1")
    try laptop.sync(usb)
    chunks = (old, try Self.put(4, into: record, by: desk))
    try family.meet(at: usb)
    for device in family.devices { device.clock.turn(bySeconds: 10 * Self.day) }
    #expect(try desk.vault.collect(keepDays: 1, isDryRun: false).waitingMembers == ["Emma"])
    try desk.sync(usb)
    try laptop.sync(usb)
    try laptop.write("Round", "so that the desk sees that it was seen")
    try laptop.sync(usb)
    try desk.sync(usb)
    #expect(try desk.vault.collect(keepDays: 1, isDryRun: false).objectCount > 0)
    try desk.sync(usb)
    #expect(chunks.old.allSatisfy { usb.blobs[$0] == nil })
    #expect(chunks.new.allSatisfy { usb.blobs[$0] != nil })
    connect(["usb": usb])
  }

  private static func put(
    _ seed: UInt64, into record: RecordID, by device: Family.Device
  ) throws -> [BlobPath] {
    let emma = try device.emma
    var edit = RecordEdit(record: record)
    let scan = try Item.photo("scan", byteCount: 3 << 20, seed: seed, in: emma)
    edit.items[scan.name] = scan
    try device.commit(edit)
    return try emma.chunks(of: scan.content).compactMap(\.self).map {
      BlobPath(emma.objects.vaultPath(of: $0).string)
    }
  }

  /// The laptop has its chunks from these; nil: one that cannot be reached.
  private func connect(
    _ remotes: [String: (any BlobStore)?], lifetime: Duration = .zero,
    patience: Duration = .seconds(1)
  ) {
    let places = remotes.keys.sorted().compactMap { text -> RemoteFiles.Place? in
      let store = remotes[text] ?? nil
      return RemoteName(text).map { name in
        RemoteFiles.Place(name: name) { () throws(BlobStoreError) -> any BlobStore in
          guard let store else { throw .unreachable(path: text, reason: "it is off") }
          return store
        }
      }
    }
    laptop.vault.lazyChunks?.setSource(
      RemoteChunks(
        RemoteFiles(places, lifetime: lifetime, patience: patience), state: laptop.vault.state))
  }

  /// The remote is compared whole with what the laptop has.
  @discardableResult
  private func compare() throws -> SyncReport {
    try laptop.sync(usb) { $0.looksEverywhere = true }
  }

  private func begin() throws {
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
  }

  @Test func anEpochPassesOverWhatOnlyHistoryHadAndTellsIt() throws {
    try compare()
    let before = try laptop.emma.epoch
    try begin()
    #expect(try laptop.emma.epoch != before)
    let told = laptop.vault.takeLeftBehind()
    #expect(told.map(\.kind) == [.missing])
    #expect(told.allSatisfy { $0.isOnlyInHistory && $0.severity == .warning })
    #expect(told.first?.reason.hasPrefix("\(chunks.old.count) pieces") == true)
    for _ in 0..<3 {
      for device in family.devices { try device.sync(usb) }
    }
    connect(["usb": usb])
    #expect(try desk.contents() == laptop.contents())
    try desk.expectWhole()
    try laptop.expectWhole()
  }

  /// What is there in no sync that came to its end may be on its way.
  @Test func whatMayComeYetIsNotPassedOver() throws {
    try compare()
    let before = try laptop.emma.epoch
    // A remote that was never synced with, and may have it.
    connect(["usb": usb, "nas": MemoryStore()])
    try expectAway()
    // One that cannot be reached.
    connect(["usb": usb, "nas": nil])
    try expectAway()
    // What is gone from an empty folder may only be unplugged.
    connect(["usb": MemoryStore()])
    try expectAway()
    // Another device's head may need what is on its way.
    connect(["usb": usb])
    try desk.write("News", "v1")
    try desk.sync(usb)
    try expectAway()
    #expect(try laptop.emma.epoch == before)
    #expect(laptop.vault.takeLeftBehind() == [])
    try compare()
    try compare()
    try begin()
    #expect(try laptop.emma.epoch != before)
  }

  /// A cache before the server may say for a while that a file is not there which has just come.
  @Test func whatIsListedAndNotGivenIsNotPassedOver() throws {
    try compare()
    let old = Set(chunks.old)
    connect([
      "usb": ListingStore(usb) { folder, entries in
        entries
          + old.filter { $0.parent == folder }.map {
            BlobEntry(name: $0.name, kind: .blob, size: 1 << 20, fingerprint: 1)
          }
      }
    ])
    try expectAway()
    #expect(laptop.vault.takeLeftBehind() == [])
    connect(["usb": usb])
    try begin()
  }

  /// Says once of each file that it is not there.
  private final class LateStore: WrappingStore {
    let inner: any BlobStore
    private let asked = Mutex<Set<BlobPath>>([])

    init(_ inner: any BlobStore) { self.inner = inner }

    func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
      let isFirst = asked.withLock { $0.insert(path).inserted }
      if isFirst { throw .notFound(path: path.string) }
      return try inner.read(path, limit: limit)
    }
  }

  @Test func whatIsListedIsAskedForOnceMore() throws {
    let name = try #require(RemoteName("usb"))
    let store = LateStore(usb)
    let place = RemoteFiles.Place(name: name) { () throws(BlobStoreError) -> any BlobStore in
      store
    }
    let path = try #require(chunks.new.first)
    let file = try RemoteFiles([place]).fetch(path, limit: 2 << 20) { _ in true }
    #expect(file == usb.blobs[path])
  }

  private func expectAway(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let emma = try laptop.emma
    do throws(VaultError) {
      try laptop.vault.beginEpoch(of: emma, without: [])
      Issue.record("it has begun", sourceLocation: sourceLocation)
    } catch {
      guard case .away = error else { throw error }
    }
  }

  /// Nor what the remote shows besides, for each of thousands and each of the names that it may have had.
  @Test func whatIsGoneIsNotAskedForAgainAndAgain() throws {
    try compare()
    let store = CountingStore(usb)
    connect(["usb": store], lifetime: .seconds(3_600))
    let emma = try laptop.emma
    let gone = emma.neededObjects(unread: { Issue.record($0) }).filter {
      $0.kind == .chunk && $0.isOnlyInHistory
    }
    #expect(gone.count == chunks.old.count)
    var counts: [Int] = []
    for _ in 0..<3 {
      for chunk in gone {
        do throws(VaultError) {
          try emma.objects.fetchIfAway(chunk.digest)
          Issue.record("it came")
        } catch {
          guard case .gone = error else { throw error }
        }
      }
      counts.append(store.traffic.requestCount)
    }
    // Each once, the folder that it would be in, and the heads.
    #expect(counts[0] <= 2 * gone.count + 1)
    #expect(counts == [counts[0], counts[0], counts[0]])
  }

  /// What one remote has damaged, or gives another piece for, the next one may have whole.
  @Test func whatOneRemoteHasDamagedComesFromAnother() throws {
    try compare()
    let good = usb.imageAfterKill()
    let other = try #require(usb.blobs[chunks.new[1]])
    for (number, path) in chunks.new.enumerated() {
      let bytes = try #require(usb.blobs[path])
      try usb.put(path, number == 0 ? other : Array(bytes.dropLast()))
    }
    connect(["first": usb, "second": nil])
    let emma = try laptop.emma
    do throws(VaultError) {
      _ = try laptop.vault.fetch(record, of: emma)
      Issue.record("it came")
    } catch {
      guard case .away = error else { throw error }
    }
    connect(["first": usb])
    #expect(throws: VaultError.self) { try laptop.vault.fetch(record, of: emma) }
    connect(["first": usb, "second": good])
    _ = try laptop.vault.fetch(record, of: emma)
    for path in chunks.new { #expect(laptop.store.blobs[path] == good.blobs[path]) }
  }

  /// One that does not answer keeps each of them waiting only once.
  @Test func whoDoesNotAnswerIsNotAskedForEach() throws {
    try compare()
    let store = UnreliableStore(usb, seed: 0)
    store.breakOff(after: 0)
    let asked = CountingStore(store)
    connect(["usb": asked], lifetime: .seconds(3_600), patience: .zero)
    let emma = try laptop.emma
    let chunks = emma.neededObjects(unread: { Issue.record($0) }).filter { $0.kind == .chunk }
    for chunk in chunks {
      do throws(VaultError) {
        try emma.objects.fetchIfAway(chunk.digest)
        Issue.record("it came")
      } catch {
        guard case .away = error else { throw error }
      }
    }
    #expect(asked.traffic.requestCount == 1)
  }

  /// A stick that is plugged in again is asked at once, whatever was missed while it was away.
  @Test func whatIsPluggedInAgainIsAsked() throws {
    try compare()
    let stick = MemoryStore()
    let emma = try laptop.emma
    let needed = emma.neededObjects(unread: { Issue.record($0) })
    let chunk = try #require(needed.first { $0.kind == .chunk && !$0.isOnlyInHistory })
    connect(["usb": stick], lifetime: .seconds(3_600))
    #expect(throws: VaultError.self) { try emma.objects.fetchIfAway(chunk.digest) }
    for (path, bytes) in usb.blobs { try stick.put(path, bytes) }
    try emma.objects.fetchIfAway(chunk.digest)
  }

  /// A remote that has lost it, or hides it, takes nothing away: the record is named.
  @Test func whatACurrentVersionNeedsIsNeverPassedOver() throws {
    try compare()
    let before = try laptop.emma.epoch
    let lost = try #require(chunks.new.first)
    let bytes = try #require(usb.blobs[lost])
    try usb.remove(lost)
    let emma = try laptop.emma
    do throws(VaultError) {
      try laptop.vault.beginEpoch(of: emma, without: [])
      Issue.record("it has begun")
    } catch {
      guard case .gone(let path, let found) = error else { throw error }
      #expect(path == lost.string && found == record)
    }
    #expect(try laptop.emma.epoch == before)
    try usb.put(lost, bytes)
    try begin()
    #expect(try laptop.emma.epoch != before)
    try laptop.expectWhole()
  }

  /// Nor is it called lost, and its revision is not put there again without what it needs.
  @Test func aComparisonCallsItCollectedAndPutsNothingBack() throws {
    let before = usb.blobs.keys.filter { $0.string.contains("/objects/") }
    let report = try compare()
    let told = report.problems.filter { $0.kind == .missingThere }
    #expect(told.map(\.severity) == [.note])
    #expect(told.first?.text.contains("of older versions") == true)
    #expect(report.pushed.objectCount == 0)
    #expect(Set(usb.blobs.keys.filter { $0.string.contains("/objects/") }) == Set(before))
    let memory = try RemoteStateFile(
      state: laptop.vault.state, remote: #require(RemoteName("usb"))
    ).load()
    #expect(memory.lastLoss == nil)
  }

  /// Another remote is given everything current while the one that has the rest is away: nothing is damaged by that.
  @Test func whatIsAwayForAnotherRemoteIsNoDamage() throws {
    _ = try laptop.vault.fetch(record, of: laptop.emma)
    connect(["usb": nil])
    let nas = MemoryStore()
    let report = try laptop.sync(nas, as: "nas")
    #expect(!report.problems.contains { $0.severity == .damage })
    let told = report.problems.filter { $0.kind == .waiting }
    #expect(told.count == 1 && told.allSatisfy { $0.text.contains("only older versions") })
    let head = VaultPath.head(try laptop.emma.id, laptop.vault.device)
    #expect(nas.blobs[BlobPath(head.string)] != nil)
    #expect(chunks.new.allSatisfy { nas.blobs[$0] != nil })
    // Nor is what shows, where that is away.
    _ = try desk.write("Later", "v1")
    let later = try Self.put(5, into: record, by: desk)
    try desk.sync(usb)
    try laptop.sync(usb)
    let next = try laptop.sync(nas, as: "nas")
    #expect(!next.problems.contains { $0.severity == .damage })
    #expect(next.problems.contains { $0.kind == .waiting })
    #expect(later.allSatisfy { nas.blobs[$0] == nil })
  }

  /// Everything that was left on the remotes has to be here for new keys: where there is no room for it nothing is begun.
  @Test func newKeysAskForRoomBeforeAnythingComes() throws {
    try compare()
    let before = try laptop.emma.epoch
    let files = Set(laptop.store.blobs.keys)
    let used = laptop.store.blobs.values.reduce(0) { $0 + UInt64($1.count) }
    laptop.store.limit(toBytes: used + 4 << 20)
    let emma = try laptop.emma
    do throws(VaultError) {
      try laptop.vault.beginEpoch(of: emma, without: [])
      Issue.record("it has begun")
    } catch {
      guard case .noRoomForNewKeys(_, let byteCount) = error else { throw error }
      #expect(byteCount > 6 << 20)
    }
    #expect(Set(laptop.store.blobs.keys) == files)
    #expect(try PendingEpoch.load(of: laptop.emma.id, state: laptop.vault.state) == nil)
    laptop.store.limit(toBytes: used + 16 << 20)
    try begin()
    #expect(try laptop.emma.epoch != before)
  }

  /// A check asks no remote, and does not say of what may have been collected that a remote has it.
  @Test func aCheckDoesNotSayThatItIsOnARemote() throws {
    let report = try laptop.vault.check(readsData: false)
    #expect(report.awayCount == chunks.new.count && report.awayOlderCount == chunks.old.count)
    #expect(report.problems.filter { $0.severity > .note } == [])
  }

  /// A remote has lost a part of one record of a deleted folder: the others come back, and that one when the part is there again.
  @Test func whatNobodyHasKeepsNoOthersDeleted() throws {
    try compare()
    let (vault, emma) = (laptop.vault, try laptop.emma)
    let folder = RecordEdit.newRecord("Visits")
    let other = RecordEdit.newRecord("Other", in: folder.record, note: "other")
    var scan = RecordEdit(record: record)
    scan.place = RecordPlace(parent: folder.record, title: try #require(FileName("Scan")))
    try vault.commit(folder, other, scan, to: emma)
    try vault.commit(try emma.edits(deleting: folder.record), to: emma)
    let lost = try #require(chunks.new.first)
    let bytes = try #require(usb.blobs[lost])
    try usb.remove(lost)
    let most = try RecordRestore(emma).undeletion(of: folder.record)
    #expect(most.left.map { $0.record } == [record])
    try vault.commit(most.edits, to: emma)
    try usb.put(lost, bytes)
    let rest = try RecordRestore(emma).undeletion(of: folder.record)
    try vault.commit(rest.edits, to: emma)
    #expect(emma.allEntries().allSatisfy { !$0.isDeleted })
  }

  @Test func whatIsRestoredOfItIsRefusedWithItsRecord() throws {
    try compare()
    let emma = try laptop.emma
    let old = try #require(emma.history(of: record).dropFirst().first)
    let edit = try RecordRestore(emma).edit(of: record, to: old.revision)
    do throws(VaultError) {
      try laptop.vault.commit(edit, to: emma)
      Issue.record("it was restored")
    } catch {
      guard case .gone(_, let found) = error else { throw error }
      #expect(found == record)
    }
  }
}
