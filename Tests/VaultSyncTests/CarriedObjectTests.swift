import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// Who carries a member without its keys cannot tell whether an object is what its name says, and does no harm by that.
@Suite struct CarriedObjectTests {
  private let usb = MemoryStore()
  private let nas = MemoryStore()
  private let scan = [UInt8](repeating: 7, count: 9_000)
  private let anna: SyncingAdult
  /// Has no keys of Emma.
  private let ben: SyncingAdult

  init() throws {
    anna = SyncingAdult(try Family(count: 1)[0])
    try anna.sync(usb)
    ben = try SyncingAdult(joining: anna.vault.invite(), as: "Ben")
    let emma = try #require(anna.emma)
    let name = try #require(FileName("scan"))
    var edit = RecordEdit.newRecord("First", note: "a note")
    edit.items[name] = Item(
      name: name, file: .random(), size: UInt64(scan.count),
      content: try emma.content(of: [emma.objects.put(.chunk, scan)]), time: .zero)
    let commit = try emma.commit([edit])
    #expect(commit.failures.isEmpty)
    try anna.sync(usb, as: "usb")
    try anna.sync(nas, as: "nas")
  }

  private func objects(of store: MemoryStore) throws -> [BlobPath: [UInt8]] {
    let folder = "members/\(try #require(anna.emma).id.hex)/objects/"
    return store.blobs.filter { $0.key.string.hasPrefix(folder) }
  }

  /// Two objects of the remote that differ in their length.
  private func two() throws -> (one: BlobPath, other: [UInt8]) {
    let all = try objects(of: usb).sorted { $0.value.count < $1.value.count }
    let (small, large) = (try #require(all.first), try #require(all.last))
    #expect(small.value.count < large.value.count)
    return (large.key, small.value)
  }

  @Test func whatOneStoreHasMadeUpReplacesNothingAtAnother() throws {
    let (path, other) = try two()
    try nas.replace(path, other, durably: true)
    try anna.write("Second")
    try anna.sync(nas, as: "nas")
    try ben.sync(nas, as: "nas")
    #expect(ben.store.blobs[path] == other)
    let before = try objects(of: usb)
    try ben.sync(usb, as: "usb")
    let after = try objects(of: usb)
    #expect(after.count > before.count)
    #expect(before.allSatisfy { after[$0.key] == $0.value })
  }

  /// Whoever can write to the remote puts there what they like under a member that nobody reads here.
  @Test(arguments: [false, true])
  func whatIsCarriedLeavesRoomToWriteInTheVault(givesMoreThanItLists: Bool) throws {
    let emma = try #require(anna.emma).id
    // By its form it can be an object.
    let madeUp = try #require(try objects(of: usb).values.max { $0.count < $1.count })
    let size = UInt64(madeUp.count)
    for number in 0..<200 {
      let name = try #require(ObjectName([UInt8](repeating: UInt8(number), count: 32)))
      try usb.put(BlobPath(VaultPath.object(emma, name).string), madeUp)
    }
    let hostile: any BlobStore =
      givesMoreThanItLists ? ListingStore.listingLess(usb, thanFilesOf: size) : usb
    let used = ben.store.space().totalBytes - ben.store.space().availableBytes
    ben.store.limit(toBytes: used + 40 * size)
    let report = try ben.sync(hostile, as: "usb")
    let kinds = report.problems.map(\.kind)
    #expect(kinds.contains(givesMoreThanItLists ? .damagedThere : .tooMuchNew), "\(kinds)")
    #expect(ben.store.space().availableBytes > size)
    // What there is no room for is not fetched to be thrown away.
    #expect(report.traffic.readCount < 150)
    let before = try objects(of: nas)
    ben.store.limit(toBytes: nil)
    try ben.sync(usb, as: "usb")
    #expect(before.allSatisfy { ben.store.blobs[$0.key] == $0.value })
  }

  /// A folder of the remote cannot be listed just now, and may have what a head names: with that head here nothing would ask for
  /// it any more, and it would be put on other remotes without it.
  @Test func whatCannotBeListedComesBeforeItsHead() throws {
    let before = try objects(of: usb)
    try anna.write("Second")
    try anna.sync(usb, as: "usb")
    let new = try objects(of: usb).filter { before[$0.key] == nil }
    let hidden = try #require(new.keys.first?.parent)
    let failing = ListingStore(usb) { folder, entries throws(BlobStoreError) in
      if folder == hidden { throw .io(path: folder.string, errno: 5) }
      return entries
    }
    let head = BlobPath(
      VaultPath.head(try #require(anna.emma).id, anna.vault.device).string)
    let report = try ben.sync(failing, as: "usb")
    #expect(report.problems.contains { $0.kind == .endlessListing })
    #expect(report.untakenHeadCount > 0)
    #expect(ben.store.blobs[head] == nil)
    try ben.sync(usb, as: "usb")
    #expect(ben.store.blobs[head] == usb.blobs[head])
    #expect(try objects(of: usb).allSatisfy { ben.store.blobs[$0.key] == $0.value })
  }

  @Test(arguments: [0, 17, 40])
  func whatIsTornHereReplacesNothingThere(byteCount: Int) throws {
    try ben.sync(usb, as: "usb")
    let (path, _) = try two()
    try anna.write("Second")
    try anna.sync(nas, as: "nas")
    try ben.sync(nas, as: "nas")
    try ben.store.replace(path, Array(#require(usb.blobs[path]).prefix(byteCount)), durably: true)
    let whole = usb.blobs[path]
    try ben.sync(usb, as: "usb")
    #expect(usb.blobs[path] == whole)
  }

  @Test func whatIsTornHereComesAnew() throws {
    try ben.sync(usb, as: "usb")
    let (path, _) = try two()
    let whole = try #require(usb.blobs[path])
    try ben.store.replace(path, Array(whole.prefix(17)), durably: true)
    try anna.write("Second")
    try anna.sync(usb, as: "usb")
    try ben.sync(usb, as: "usb")
    #expect(ben.store.blobs[path] == whole)
  }

  /// A sync that was killed has brought all that a head names, and has waited for nothing of it.
  @Test func whatAKilledSyncHasCarriedIsOnTheDiskBeforeTheHead() throws {
    let left = try objects(of: usb)
    #expect(left.count > 1 && left.keys.allSatisfy { ben.store.blobs[$0] == nil })
    for (path, bytes) in left { try ben.store.replace(path, bytes, durably: false) }
    let recording = RecordingStore(ben.store)
    let vault = try ben.openedOn(recording)
    recording.forgetCalls()
    _ = try RemoteSync(
      vault: vault, remote: usb, name: #require(RemoteName("usb")), options: SyncOptions()
    ).run()
    let calls = recording.calls(.takeOver, .barrier, .replace)
    let heads = "members/\(try #require(anna.emma).id.hex)/heads/"
    let head = try #require(
      calls.firstIndex { $0.kind == .replace && $0.path.string.hasPrefix(heads) })
    let barrier = try #require(calls[..<head].lastIndex { $0.kind == .barrier })
    #expect(Set(calls[..<barrier].map(\.path)).isSuperset(of: left.keys))
  }

  @Test func whatIsTornThereIsPutAgain() throws {
    try ben.sync(usb, as: "usb")
    let (path, _) = try two()
    try anna.write("Second")
    try anna.sync(nas, as: "nas")
    try ben.sync(nas, as: "nas")
    let whole = try #require(usb.blobs[path])
    try usb.replace(path, Array(whole.prefix(17)), durably: true)
    try ben.sync(usb, as: "usb")
    #expect(usb.blobs[path] == whole)
  }
}
