import BlobStore
import TestSupport
import Testing
import VaultCrypto
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

  /// The remote loses the links that have come since.
  private func loseLinks(besides before: Set<BlobPath>) throws -> [BlobPath: [UInt8]] {
    let links = usb.blobs.filter {
      $0.key.string.contains("/links/") && !before.contains($0.key)
    }
    try #require(!links.isEmpty)
    for link in links.keys { try usb.remove(link) }
    return links
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
    let links = try loseLinks(besides: before)
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

  /// It has counted as far itself, so the head is surely none that it could go on from, and has waited there for a while.
  @Test(arguments: [false, true])
  func besideWhatWaitsItGoesOnAsADeviceOfItsOwn(isLocked: Bool) throws {
    let before = Set(usb.blobs.keys)
    let newer = try putBack(beginningEpoch: true, newCount: 20)
    let (path, former) = (try head, desk.vault.device)
    let links = try loseLinks(besides: before)
    try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(desk.vault.device == former)
    let problems = try desk.sync(usb) { $0.looksEverywhere = true }.problems
    #expect(desk.vault.device != former)
    #expect(problems.contains { $0.kind == .parted })
    #expect(problems.filter { $0.path == path.string }.map(\.kind).contains(.waiting))
    #expect(!problems.contains { $0.text.contains("what this machine writes") }, "\(problems)")
    #expect(usb.blobs[path] == newer)
    let own = try #require(try usb.blobs[head])
    try desk.write("Later", "later")
    try desk.syncLocked(usb)
    try desk.sync(usb)
    #expect(usb.blobs[path] == newer)
    #expect(try usb.blobs[head] != own)
    for (path, bytes) in links { try usb.put(path, bytes) }
    if isLocked {
      try desk.syncLocked(usb)
      #expect(usb.blobs[path] == newer)
    }
    try expectBothLines()
  }

  /// Nothing shows of what both lines share, so all that it ever wrote would be written anew: it does not do that by itself.
  @Test func whatIsToBeWrittenAnewAltogetherAPersonDecides() throws {
    let before = Set(usb.blobs.keys)
    _ = try putBack(beginningEpoch: true, newCount: 20)
    let device = desk.vault.device
    _ = try loseLinks(besides: before)
    for _ in 0..<3 {
      try desk.sync(usb)
      desk.clock.turn(bySeconds: 90_000)
    }
    #expect(desk.vault.device == device)
    let told = try desk.sync(usb).problems.map(\.text)
    #expect(told.contains { $0.contains("kinvault sync usb --full") }, "\(told)")
    try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(desk.vault.device != device)
  }

  /// It may have written the head itself and lost what comes between.
  @Test func besideWhatHasCountedFurtherItStaysTheDevice() throws {
    let before = Set(usb.blobs.keys)
    let newer = try putBack(beginningEpoch: true)
    let (path, device) = (try head, desk.vault.device)
    _ = try loseLinks(besides: before)
    for _ in 0..<3 { try desk.sync(usb) { $0.looksEverywhere = true } }
    #expect(desk.vault.device == device)
    #expect(usb.blobs[path] == newer)
  }

  @Test func whatAHeadSaysInTheOpenTellsItsLine() throws {
    var own: [OpenedHead] = []
    for number in 0..<3 {
      try desk.write("Note \(number)", "note")
      own.append(try #require(try desk.emma.openedHeads.first))
    }
    let (member, last) = (try desk.emma, own[2].counter)
    func above(_ counter: UInt64, _ hash: FileHash? = nil, after previous: FileHash?) -> UInt64? {
      member.lastShared(
        withUnjudged: SignedFacts(
          counter: counter, hash: hash ?? Digest.sha256([1]), previous: previous))
    }
    for head in own { #expect(above(head.counter, head.hash, after: nil) == nil) }
    let unknown = Digest.sha256([2])
    #expect(above(last, after: unknown) == 0)
    #expect(above(own[0].counter, after: unknown) == 0)
    #expect(above(last, after: own[1].hash) == own[1].counter)
    #expect(above(last + 5, after: own[0].hash) == own[0].counter)
    #expect(above(last + 1, after: own[2].hash) == nil)
    #expect(above(last + 5, after: unknown) == nil)
  }

  /// Where nothing shows of what both lines share all that it has written is written anew. That takes nothing away from others,
  /// who are not asked whether they want it.
  @Test func whatIsWrittenAnewIsNoMassChange() throws {
    let (family, remote) = (try Family(count: 2), MemoryStore())
    let (desk, laptop) = (family[0], family[1])
    _ = try desk.emma.commit((0..<50).map { .newRecord("Record \($0)", note: "\($0)") })
    try family.meet(at: remote)
    let (contents, former) = (try laptop.contents(), desk.vault.device)
    try desk.emma.part(from: former, above: 0)
    try #require(desk.vault.device != former)
    try desk.sync(remote)
    #expect(try laptop.sync(remote).massChanges.isEmpty)
    try family.meet(at: remote)
    try family.expectAgreement()
    #expect(try laptop.contents() == contents)
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
