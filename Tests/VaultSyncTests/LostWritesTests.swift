import BlobStore
import Synchronization
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// A disk that cannot write what a sync has brought says so once, to whoever waits for it first. What is read of that afterwards
/// is in memory only, and no barrier says so any more.
@Suite struct LostWritesTests {
  private let family: Family
  private let usb = MemoryStore()
  private let disk: ForgetfulDisk
  private var other: Family.Device { family[1] }

  /// Two devices that have met. The first one has put a record with a file on the remote since; the second one's disk is about to
  /// lose something.
  init() throws {
    family = try Family()
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    var edit = RecordEdit.newRecord("Scan", note: "n")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
    disk = ForgetfulDisk(family[1].store)
    family[1].vault = try family[1].open(on: disk)
  }

  private func showsScan() throws -> Bool {
    try other.contents().keys.contains { $0.contains("Scan") }
  }

  /// The machine begins anew, with what is on the disk.
  private func expectWhole(_ device: Family.Device, on disk: ForgetfulDisk) throws {
    let left = device.store.imageAfterKill()
    for path in disk.lost { try left.remove(path) }
    device.store = left
    try device.reopen()
    try device.expectWhole()
  }

  private func expectWholeOnDisk() throws {
    try expectWhole(other, on: disk)
    #expect(try showsScan())
  }

  @Test func whatASyncMayHaveLostIsBroughtAnew() throws {
    disk.forgetAtNextBarrier()
    #expect(throws: SyncError.self) { try other.sync(usb) }
    #expect(disk.lost.contains { $0.string.contains("/objects/") })
    #expect(try !showsScan())
    try other.sync(usb)
    try expectWholeOnDisk()
  }

  /// What was lost was the sync's, and the commit was told.
  @Test func aSyncIsToldOfWhatACommitBesideItHasMet() throws {
    let emma = try other.emma
    let remote = InterruptingStore(usb, atObject: 3) { [disk] in
      disk.forgetAtNextBarrier()
      do {
        _ = try emma.commit([.newRecord("Mine", note: "n")])
        Issue.record("the disk took everything")
      } catch {}
    }
    #expect(throws: SyncError.self) { try other.sync(remote) { $0.threadCount = 1 } }
    #expect(disk.lost.contains { $0.string.contains("/objects/") })
    #expect(try !showsScan())
    try other.sync(usb)
    try expectWholeOnDisk()
  }

  /// Its newer head stays in its place, so that no head waits for the disk.
  @Test func whatAnOlderOwnHeadNamesIsOnTheDiskBeforeItIsTaken() throws {
    let desk = family[0]
    let older = desk.store.blobs
    var edit = RecordEdit.newRecord("Later", note: "n")
    edit.items[try #require(FileName("photo"))] =
      try .photo("photo", byteCount: 3 << 20, seed: 2, in: desk.emma)
    try desk.commit(edit)
    try desk.sync(usb)
    // An older folder, in which the newest head stands, is repaired.
    let head = BlobPath(VaultPath.head(try desk.emma.id, desk.vault.device).string)
    for path in desk.store.blobs.keys where path != head { try desk.store.remove(path) }
    for (path, bytes) in older where !path.string.hasPrefix("staging") && path != head {
      try desk.store.replace(path, bytes, durably: true)
    }
    try desk.reopen()
    _ = try desk.vault.repair()
    try desk.reopen()
    let disk = ForgetfulDisk(desk.store)
    desk.vault = try desk.open(on: disk)
    let emma = try desk.emma
    let remote = InterruptingStore(usb, atObject: 4) {
      disk.forgetAtNextBarrier()
      do {
        _ = try emma.commit([.newRecord("Mine", note: "n")])
        Issue.record("the disk took everything")
      } catch {}
    }
    #expect(throws: SyncError.self) { try desk.sync(remote) { $0.threadCount = 1 } }
    #expect(disk.lost.contains { usb.blobs[$0] != nil })
    try desk.sync(usb)
    try expectWhole(desk, on: disk)
    #expect(try desk.contents().keys.contains { $0.contains("Later") })
  }

  /// A sync that was killed has brought all that a head names, and has waited for nothing of it.
  @Test func whatAKilledSyncHasBroughtIsOnTheDiskBeforeTheHead() throws {
    let here = other.store.blobs
    let left = usb.blobs.filter {
      $0.key.string.contains("/objects/") && here[$0.key] == nil
    }
    #expect(left.count > 2)
    for (path, bytes) in left { try other.store.replace(path, bytes, durably: false) }
    let recording = RecordingStore(other.store)
    other.vault = try other.open(on: recording)
    recording.forgetCalls()
    try other.sync(usb)
    #expect(try showsScan())
    let calls = recording.calls(.takeOver, .barrier, .renameDurably)
    let head = try #require(
      calls.firstIndex {
        $0.kind == .renameDurably && $0.target?.string.contains("/heads/") == true
      })
    let barrier = try #require(calls[..<head].lastIndex { $0.kind == .barrier })
    #expect(Set(calls[..<barrier].map(\.path)).isSuperset(of: left.keys))
  }
}

/// A remote where something happens when so many objects were asked for.
private final class InterruptingStore: WrappingStore {
  let inner: any BlobStore
  private let number: Int
  private let interrupt: @Sendable () -> Void
  private let reads = Mutex(0)

  init(_ inner: any BlobStore, atObject number: Int, _ interrupt: @escaping @Sendable () -> Void) {
    (self.inner, self.number, self.interrupt) = (inner, number, interrupt)
  }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let count = reads.withLock { count in
      if path.string.contains("/objects/") { count += 1 }
      return count
    }
    if path.string.contains("/objects/"), count == number { interrupt() }
    return try inner.read(path, limit: limit)
  }
}
