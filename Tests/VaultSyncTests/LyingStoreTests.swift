import BlobStore
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A remote that shows what is not so, or only now and then: nothing is lost by it on either side, every sync comes to an end,
/// and with the first honest answers all is as it was.
@Suite struct LyingStoreTests {
  private let family: Family
  private let usb = MemoryStore()
  private let note: RecordID

  init() throws {
    (family, note) = try Family.met(at: usb)
  }

  private func head(of device: Int) throws -> BlobPath {
    BlobPath(VaultPath.head(try family[0].emma.id, family[device].vault.device).string)
  }

  /// Answers with these files whatever stands there by now.
  private final class StaleStore: WrappingStore {
    let inner: any BlobStore
    private let files: [BlobPath: [UInt8]]

    init(_ inner: any BlobStore, _ files: [BlobPath: [UInt8]]) {
      (self.inner, self.files) = (inner, files)
    }

    func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
      if let bytes = files[path] { return bytes }
      return try inner.read(path, limit: limit)
    }
  }

  /// Fails every third call, as an overloaded server does.
  private final class EveryThirdFails: WrappingStore {
    let inner: any BlobStore
    private let count = Mutex(0)

    init(_ inner: any BlobStore) { self.inner = inner }

    private func check(_ path: BlobPath) throws(BlobStoreError) {
      let number = count.withLock { (count) -> Int in
        count += 1
        return count
      }
      if number % 3 == 0 {
        throw .unexpectedReply(path: path.string, status: 500, text: "overloaded")
      }
    }

    func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
      try check(folder)
      return try inner.list(folder)
    }

    func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
      try check(path)
      return try inner.read(path, limit: limit)
    }

    func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
      try check(path)
      return try inner.size(of: path)
    }

    func put(
      _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
    ) throws(BlobStoreError) {
      try check(path)
      try inner.put(path, bytes, condition)
    }
  }

  /// A cache before the store may answer with the head of before: that is not taken for the new one for good.
  @Test func anOlderHeadUnderItsNewMarkIsReadAgain() throws {
    let path = try head(of: 0)
    let old = try #require(usb.blobs[path])
    try family[0].edit(note, "second")
    try family[0].sync(usb)
    try family[1].sync(StaleStore(usb, [path: old]))
    #expect(try !family[1].contents().values.contains("second"))
    family[1].clock.turn(bySeconds: 2 * 86_400)
    try family[1].sync(usb)
    #expect(try family[1].contents().values.contains("second"))
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// The lists are those of before, and the files those of now.
  @Test(arguments: [false, true])
  func anOlderListingOnlyDelays(looksEverywhere: Bool) throws {
    let before = usb.imageAfterKill()
    try family[0].edit(note, "second")
    try family[0].sync(usb)
    let hostile = ListingStore(usb) { folder, _ throws(BlobStoreError) in try before.list(folder) }
    for device in family.devices {
      _ = try device.sync(hostile) { $0.looksEverywhere = looksEverywhere }
    }
    #expect(try family[0].contents().values.contains("second"))
    try family.meet(at: usb)
    #expect(try family[1].contents().values.contains("second"))
    try family.expectAgreement()
  }

  /// One folder after the other shows nothing, or everything twice.
  @Test(arguments: [false, true])
  func aFolderThatIsListedWrongHarmsNothing(isTwice: Bool) throws {
    let shown = try family[0].contents()
    let files = Set(usb.blobs.keys)
    for folder in folders() {
      let hostile = ListingStore(usb) { listed, entries in
        if listed != folder { return entries }
        return isTwice ? Array(entries.reversed()) + entries : []
      }
      for device in family.devices {
        _ = try device.sync(hostile) { $0.looksEverywhere = true }
        #expect(try device.contents() == shown, "\(folder)")
      }
      #expect(Set(usb.blobs.keys).isSuperset(of: files), "\(folder)")
    }
    for device in family.devices { try device.reopen() }
    try family.meet(at: usb)
    #expect(try family[0].contents() == shown)
    try family.expectAgreement()
  }

  /// All folders of the remote but its root.
  private func folders() -> [BlobPath] {
    var found: Set<BlobPath> = []
    for path in usb.blobs.keys {
      var next = path.parent
      while let folder = next, !folder.isRoot {
        found.insert(folder)
        next = folder.parent
      }
    }
    return found.sorted { $0.string < $1.string }
  }

  @Test func aServerThatFailsEveryThirdTimeOnlyTakesLonger() throws {
    // Of several threads one may come third many times.
    var policy = RetryingStore.Policy()
    (policy.attempts, policy.firstPause) = (100, .zero)
    let hostile = RetryingStore(EveryThirdFails(usb), policy: policy, pause: { _ in })
    for number in 0..<3 {
      try family[0].edit(note, "\(number)")
      try family[1].write("Record \(number)", "of the other")
      try family.meet(at: hostile)
    }
    #expect(try family[0].sync(hostile).problems == [])
    try family.expectAgreement()
    // Every call of a store that is asked only once fails a sync, which has moved what it has moved.
    try family[0].edit(note, "last")
    for _ in 0..<8 {
      do { _ = try family[0].sync(EveryThirdFails(usb)) } catch SyncError.remote {}
    }
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// Without them no machine that comes anew opens anything: whoever has them puts them there again.
  @Test func wrapsThatAreGoneArePutThereAgainAndTold() throws {
    let wraps = usb.blobs.filter { $0.key.string.contains("/wraps/") }
    #expect(wraps.keys.contains { $0.string.hasPrefix("people/") })
    #expect(wraps.keys.contains { $0.string.hasPrefix("members/") })
    for path in wraps.keys { try usb.remove(path) }
    let report = try family[1].sync(usb) { $0.looksEverywhere = true }
    for (path, bytes) in wraps { #expect(usb.blobs[path] == bytes) }
    let told = Set(report.problems.filter { $0.kind == .wentBack }.map(\.path))
    #expect(told == Set(wraps.keys.map(\.string)))
    #expect(report.problems.allSatisfy { $0.severity == .warning && !$0.text.isEmpty })
    for device in family.devices {
      #expect(try device.sync(usb) { $0.looksEverywhere = true }.problems == [])
    }
  }
}
