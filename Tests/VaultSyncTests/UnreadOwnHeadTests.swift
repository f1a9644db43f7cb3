import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// A machine that was put back to an earlier state meets the head that it wrote since, and cannot judge it just now: nothing else
/// names what that brings.
@Suite struct UnreadOwnHeadTests {
  private let usb = MemoryStore()
  private let family: Family
  private var desk: Family.Device { family[0] }

  init() throws {
    family = try Family(count: 1)
    try desk.knowRemotes(["usb"])
    try desk.write("Before", "before")
    try desk.sync(usb)
  }

  /// Cannot read one file.
  private final class UnreadableStore: WrappingStore {
    let inner: any BlobStore
    private let path: BlobPath
    private let error: BlobStoreError

    init(_ inner: any BlobStore, _ path: BlobPath, _ error: BlobStoreError) {
      (self.inner, self.path, self.error) = (inner, path, error)
    }

    func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
      if path == self.path { throw error }
      return try inner.read(path, limit: limit)
    }
  }

  private var head: BlobPath {
    get throws { BlobPath(VaultPath.head(try desk.emma.id, desk.vault.device).string) }
  }

  /// The desk loses what it writes now and has sent, and writes something else.
  ///
  /// - Returns: Its head on the remote.
  private func putBack(beginningEpoch: Bool = false, newCount: Int = 1) throws -> [UInt8] {
    let snapshot = desk.snapshot()
    if beginningEpoch { try desk.vault.beginEpoch(of: desk.emma, without: []) }
    for number in 0..<2 { try desk.write("Lost \(number)", "lost \(number)") }
    try desk.sync(usb)
    let path = try head
    try desk.putBack(snapshot)
    for number in 0..<newCount { try desk.write("New \(number)", "new \(number)") }
    return try #require(usb.blobs[path])
  }

  private func expectBothLines() throws {
    for _ in 0..<3 { try desk.sync(usb) }
    let contents = Set(try desk.contents().values)
    #expect(contents.isSuperset(of: ["before", "lost 0", "lost 1", "new 0"]))
    try desk.expectWhole()
  }

  @Test(
    arguments: [
      BlobStoreError.io(path: "head", errno: 5), .garbled(path: "head", reason: "cut short"),
      .notFound(path: "head"),
    ], [false, true])
  func whatCannotBeReadJustNowIsNotReplaced(error: BlobStoreError, isLocked: Bool) throws {
    let newer = try putBack()
    let path = try head
    let store = UnreadableStore(usb, path, error)
    for _ in 0..<2 {
      if isLocked { try desk.syncLocked(store) } else { try desk.sync(store) }
      #expect(usb.blobs[path] == newer)
    }
    try expectBothLines()
  }

  /// However far it has counted since.
  @Test(arguments: [1, 9], [false, true])
  func whatWaitsForALinkIsNotReplaced(newCount: Int, isLocked: Bool) throws {
    let before = Set(usb.blobs.keys)
    let newer = try putBack(beginningEpoch: true, newCount: newCount)
    let path = try head
    let links = usb.blobs.filter {
      $0.key.string.contains("/links/") && !before.contains($0.key)
    }
    #expect(!links.isEmpty)
    for link in links.keys { try usb.remove(link) }
    for round in 0..<2 {
      let report = try isLocked ? desk.syncLocked(usb) : desk.sync(usb)
      #expect(usb.blobs[path] == newer)
      if round > 0 || isLocked { continue }
      let told = report.problems.filter { $0.path == path.string }.map(\.text)
      #expect(told.contains { $0.contains("what this machine writes") }, "\(told)")
    }
    for (path, bytes) in links { try usb.put(path, bytes) }
    try expectBothLines()
  }

  /// Somebody has put other bytes there, or more than a head can have.
  @Test(arguments: [300, Limits.signedFileBytes + 1])
  func whatItHasNotWrittenIsReplaced(byteCount: Int) throws {
    let path = try head
    try usb.put(path, [UInt8](repeating: 7, count: byteCount))
    try desk.write("New", "new")
    try desk.sync(usb)
    #expect(usb.blobs[path] == desk.store.blobs[path])
  }
}
