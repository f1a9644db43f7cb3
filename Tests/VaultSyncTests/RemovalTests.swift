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

/// What `collect` removed goes from the remotes as well, and nothing else does.
@Suite struct RemovalTests {
  private let usb = MemoryStore()

  private func objects(of store: MemoryStore) -> Set<BlobPath> {
    Set(store.blobs.keys.filter { $0.string.contains("/objects/") })
  }

  private func list(on device: Family.Device, of name: String = "usb") throws -> [ObjectName] {
    try RemoteRemovals(
      of: device.emma.id, on: #require(RemoteName(name)),
      state: StateFolder(store: device.stateStore)
    ).load()
  }

  /// A photo that was replaced, so that it is garbage once nothing of the past is kept.
  private func replacePhoto(on device: Family.Device, seed: UInt64 = 1) throws -> RecordID {
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    let name = try #require(FileName("scan"))
    edit.items[name] = try .photo("scan", byteCount: 300_000, seed: seed, in: device.emma)
    try device.commit(edit)
    var second = RecordEdit(record: edit.record)
    second.items[name] = try .photo("scan", byteCount: 300_000, seed: seed + 1, in: device.emma)
    try device.commit(second)
    return edit.record
  }

  @Test func aSingleDevicesGarbageGoesWithTheNextSync() throws {
    let family = try Family(count: 1)
    try family[0].knowRemotes(["usb"])
    _ = try replacePhoto(on: family[0])
    try family[0].sync(usb)
    let before = objects(of: usb)
    let report = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    #expect(report.objectCount > 0)
    #expect(try list(on: family[0]).count == report.objectCount)
    // There is something to do, though no head is new.
    #expect(try family[0].quickSync(usb) == nil)
    let synced = try family[0].sync(usb)
    #expect(synced.problems == [])
    #expect(synced.traffic.removeCount == report.objectCount)
    #expect(objects(of: usb).count == before.count - report.objectCount)
    #expect(objects(of: usb) == objects(of: family[0].store))
    #expect(try list(on: family[0]) == [])
    let check = try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: true)
    #expect(check.unusedCount == 0)
  }

  /// Both collect what both have seen; a third device comes and gets everything that counts.
  @Test func severalDevicesGarbageGoesOnceAllHaveSeenIt() throws {
    let family = try Family(count: 3)
    let both = [family[0], family[1]]
    for device in both { try device.knowRemotes(["usb"]) }
    let record = try replacePhoto(on: family[0])
    for _ in 0..<2 { for device in both { try device.sync(usb) } }
    try family[1].edit(record, "by the other")
    for _ in 0..<2 { for device in both { try device.sync(usb) } }
    let photosBefore = usb.blobs.values.count { $0.count > 300_000 }
    for round in 0..<4 {
      for device in both {
        _ = try device.vault.collect(keepDays: 0, isDryRun: false)
        try device.write("Round \(round)", "so that the other one sees what was announced")
        #expect(try device.sync(usb).problems == [])
      }
    }
    for device in both { #expect(try list(on: device) == []) }
    // The first photo is gone, the second one is there.
    let photos = usb.blobs.values.count { $0.count > 300_000 }
    #expect(photosBefore == 2 && photos == 1)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func aHeadThatIsNotKnownHereKeepsEverything() throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    _ = try replacePhoto(on: family[0])
    try family[0].sync(usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    let names = try list(on: family[0])
    #expect(!names.isEmpty)
    // Meanwhile the other one has joined, and has a head there of its own.
    try family[1].sync(usb)
    try family[1].write("Visit", "x")
    try family[1].sync(usb)
    let pushOnly = try family[0].sync(usb) { $0.direction = .push }
    #expect(pushOnly.problems == [])
    #expect(try list(on: family[0]) == names)
    try family[0].sync(usb)
    #expect(try list(on: family[0]) == [])
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func whatIsNamedAgainStays() throws {
    let family = try Family(count: 1)
    try family[0].knowRemotes(["usb"])
    let record = try replacePhoto(on: family[0])
    try family[0].sync(usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    var edit = RecordEdit(record: record)
    edit.items[try #require(FileName("again"))] =
      try .photo("again", byteCount: 300_000, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    #expect(try family[0].sync(usb).problems == [])
    #expect(try list(on: family[0]) == [])
    let check = try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: true)
    #expect(check.problems == [])
  }

  /// Another device puts a head there at the very moment: it has the old photo still, and names it again.
  @Test func anotherDevicesPendingWorkIsNotHarmed() throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try replacePhoto(on: family[0])
    try family.meet(at: usb)
    try family[1].edit(record, "x")
    try family.meet(at: usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].edit(record, "has seen what was announced")
    try family.meet(at: usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    #expect(try !list(on: family[0]).isEmpty)
    // Offline, with the folder as it was.
    var edit = RecordEdit(record: record)
    edit.items[try #require(FileName("again"))] =
      try .photo("again", byteCount: 300_000, seed: 1, in: family[1].emma)
    try family[1].commit(edit)
    nonisolated(unsafe) let other = family[1]
    let usb = self.usb
    let meeting = MeetingStore(usb) {
      do { try other.sync(usb) } catch { Issue.record(error) }
    }
    try family[0].sync(meeting)
    try family.meet(at: usb)
    let check = try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: true)
    #expect(check.problems == [])
    try family.expectAgreement()
  }

  /// Another device needs again what was announced, and sends it a moment before it is removed there; its head comes after.
  @Test(arguments: [false, true])
  func whatIsSentBeforeItIsRemovedThereIsSentAgain(isCutShort: Bool) throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family.meet(at: usb)
    try family[1].write("Visit", "has a head of its own")
    let scan = try #require(FileName("scan"))
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[scan] = try .photo("scan", byteCount: 30_000, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    let before = objects(of: usb)
    try family.meet(at: usb)
    let photo = try #require(
      objects(of: usb).subtracting(before).first { usb.blobs[$0]?.count ?? 0 > 30_000 })
    var second = RecordEdit(record: edit.record)
    second.items[scan] = try .photo("scan", byteCount: 30_000, seed: 2, in: family[0].emma)
    try family[0].commit(second)
    try family.meet(at: usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Vaccine", "has seen what was announced")
    try family.meet(at: usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    #expect(try family[0].store.size(of: photo) == nil)

    var again = RecordEdit.newRecord("Again", note: "the same scan")
    again.items[scan] = try .photo("scan", byteCount: 30_000, seed: 1, in: family[1].emma)
    try family[1].commit(again)
    nonisolated(unsafe) let other = family[0]
    let remote = usb
    let store = HeadMeetingStore(remote, isCutShort: isCutShort) {
      do { try other.sync(remote) } catch { Issue.record(error) }
    }
    if isCutShort {
      #expect(throws: SyncError.self) { try family[1].sync(store) }
    } else {
      try family[1].sync(store)
    }
    #expect(try usb.size(of: photo) == nil)
    try family[1].sync(usb)
    #expect(try usb.size(of: photo) != nil)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// A device writes its first head at the very moment, which names the segments that are being removed.
  @Test func aFirstHeadsSegmentsAreNotLost() throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    _ = try family[0].emma.commit((0..<500).map { RecordEdit.newRecord("Record \($0)") })
    try family[0].sync(usb)
    try family[1].sync(usb)
    let shared = try #require(family[0].emma.openedHeads.first).segments
    _ = try family[0].emma.commit((0..<900).map { RecordEdit.newRecord("Later \($0)") })
    try family[0].sync(usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    let names = try shared.map(family[0].emma.objects.name)
    #expect(try !Set(list(on: family[0])).isDisjoint(with: names))
    // Offline, with the folder as it was.
    try family[1].write("Visit", "x")
    let own = family[1].vault.device
    let head = try #require(family[1].emma.openedHeads.first { $0.device == own })
    #expect(head.head.checkpoint == Array(shared.prefix(1)))
    nonisolated(unsafe) let other = family[1]
    let usb = self.usb
    let meeting = MeetingStore(usb) {
      do { try other.sync(usb) } catch { Issue.record(error) }
    }
    try family[0].sync(meeting)
    try family[1].sync(usb)
    let objects = try family[0].emma.objects
    let missing = shared.filter {
      usb.blobs[BlobPath(objects.vaultPath(of: $0).string)] == nil
    }
    #expect(missing == [])
    try family.meet(at: usb)
    let check = try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: true)
    #expect(check.problems == [])
    try family.expectAgreement()
  }

  /// What a removed device wrote stays as long as a head that counts goes on from it, and no longer.
  @Test(arguments: [false, true])
  func theSegmentsOfARemovedDeviceStayWhileTheyAreNamed(withNewKeys: Bool) throws {
    let family = try Family(count: 3)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    _ = try family[0].emma.commit((0..<300).map { .newRecord("Record \($0)", note: "\($0)") })
    try family.meet(at: usb)
    let shared = try #require(family[0].emma.openedHeads.first).segments
    try family[1].write("Mine", "of the one that removes")
    let own = family[1].vault.device
    let first = try #require(family[1].emma.openedHeads.first { $0.device == own })
    #expect(first.segments.starts(with: shared))
    let owner = family[1].vault
    try owner.beginGeneration(removing: [family[0].vault.device], words: Family.words.words)
    if withNewKeys { try owner.beginEpoch(of: family[1].emma, without: []) }
    try family[1].sync(usb)
    // Knows nothing of it yet, and has no head: it goes on from the removed device's.
    try family[2].write("Offline", "of the one that was away")
    let left = Array(family.devices.dropFirst())
    for _ in 0..<4 {
      for device in left {
        #expect(try device.sync(usb).problems == [])
        _ = try device.vault.collect(keepDays: 0, isDryRun: false)
      }
    }
    for device in left {
      let contents = try device.contents()
      for note in ["0", "299", "of the one that removes", "of the one that was away"] {
        #expect(contents.values.contains(note))
      }
      try device.expectWhole()
      try device.reopen()
      #expect(try device.contents() == contents)
      #expect(try contents == left[0].contents())
    }
    // But for the note that its head counts no more.
    let check = try RemoteCheck(vault: left[0].vault, remote: usb).run(readsData: true)
    #expect(check.problems.filter { $0.severity > .note } == [])
  }

  /// A device whose last head was taken over is away like any other, and may name again what it has seen.
  @Test func collectWaitsForADeviceWhoseHeadWasTakenOver() throws {
    let family = try Family()
    try family.meet(at: usb)
    try family[1].write("Visit", "of the one that will be away")
    try family.meet(at: usb)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    _ = try replacePhoto(on: family[0])
    try family[0].sync(usb)
    let before = objects(of: family[0].store)
    let report = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    #expect(report.objectCount == 0 && report.waitingMembers == ["Emma"])
    try family[0].vault.makeRoom(keepDays: 0)
    #expect(before.isSubset(of: objects(of: family[0].store)))
    // It takes up the new keys, and has seen what was announced.
    try family.meet(at: usb)
    try family[1].write("Vaccine", "under the new keys")
    try family.meet(at: usb)
    #expect(try family[0].vault.collect(keepDays: 0, isDryRun: false).objectCount > 0)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func anInterruptedRemovalGoesOn() throws {
    let family = try Family(count: 1)
    try family[0].knowRemotes(["usb"])
    _ = try replacePhoto(on: family[0])
    try family[0].sync(usb)
    let report = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    let faulty = FaultyStore(usb)
    faulty.fail(.remove, with: .unreachable)
    #expect(throws: SyncError.self) { try family[0].sync(faulty) }
    #expect(try list(on: family[0]).count == report.objectCount)
    try family[0].reopen()
    #expect(try family[0].sync(usb).problems == [])
    #expect(objects(of: usb) == objects(of: family[0].store))
  }

  /// The head has an entry for each version, of which the older ones were gone before it was put there.
  @Test func whatWasCollectedBeforeTheFirstPushIsMissedByNobody() throws {
    let family = try Family()
    let record = try family[0].write("Visit", "a")
    for text in ["b", "c"] { try family[0].edit(record, text) }
    #expect(try family[0].vault.collect(keepDays: 0, isDryRun: false).objectCount > 0)
    try family.meet(at: usb)
    #expect(try family[1].contents() == family[0].contents())
    try family.expectAgreement()
  }

  /// A head that stands there names what only it names, and is gone; a newer one replaces it.
  @Test func aNewDeviceNeedsNothingThatWasReplacedEverywhere() throws {
    let family = try Family(count: 3)
    let both = [family[0], family[1]]
    for device in both { try device.knowRemotes(["usb"]) }
    try family.meet(at: usb)
    let record = try family[1].write("Visit", "by the other")
    try family[1].sync(usb)
    try family[0].sync(usb)
    // The head of the other one stays as it is there, and names its own version.
    for text in ["a", "b"] { try family[0].edit(record, text) }
    try family[0].sync(usb)
    let revision = try #require(try family[1].emma.entry(record)?.revision)
    let gone = try family[0].emma.objects.vaultPath(of: revision)
    try family[0].store.remove(BlobPath(gone.string))
    try usb.remove(BlobPath(gone.string))
    let fresh = try Family(count: 3)[2]
    #expect(try fresh.sync(usb).untakenHeadCount == 0)
    try fresh.reopen()
    try fresh.expectWhole()
    #expect(try fresh.contents() == family[0].contents())
  }
}

/// Lets something else happen before the first removal.
private final class MeetingStore: InspectingStore {
  let inner: any LocalStore
  private let meeting: @Sendable () -> Void
  private let hasMet = Mutex(false)

  init(_ inner: any LocalStore, _ meeting: @escaping @Sendable () -> Void) {
    self.inner = inner
    self.meeting = meeting
  }

  func inspect(_ call: StoreCall) {
    guard call.kind == .remove,
      hasMet.withLock({ met in
        defer { met = true }
        return !met
      })
    else { return }
    meeting()
  }
}

/// Lets something else happen before the first head is put there; if it is to be cut short, the store is away once that
/// stands there.
private final class HeadMeetingStore: InspectingStore {
  let inner: any LocalStore
  private let isCutShort: Bool
  private let meeting: @Sendable () -> Void
  private let hasMet = Mutex(false)

  init(_ inner: any LocalStore, isCutShort: Bool, _ meeting: @escaping @Sendable () -> Void) {
    self.inner = inner
    self.isCutShort = isCutShort
    self.meeting = meeting
  }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    if call.kind == .flush, isCutShort, hasMet.withLock({ $0 }) {
      throw .unreachable(path: call.path.string, reason: "on purpose")
    }
    guard call.kind == .put, call.path.string.contains("/heads/"),
      hasMet.withLock({ met in
        defer { met = true }
        return !met
      })
    else { return }
    meeting()
  }
}
