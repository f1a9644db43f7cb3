import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// One device collects what another one, which was offline, goes on from: whatever `check` then calls for is here, or a
/// sync brings it, or it is no longer called for.
@Suite struct CollectedLineTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID
  private let scan: FileName
  private static let days: Int64 = 86_400

  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }

  /// Both have a head, and both have a record with a file whose first chunk all its versions share.
  init() throws {
    family = try Family()
    scan = try #require(FileName("scan"))
    for device in family.devices { try device.knowRemotes(["usb"]) }
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[scan] = try Self.version(1, in: family[0].emma)
    try family[0].commit(edit)
    record = edit.record
    try family.meet(at: usb)
    try family[1].write("Laptop", "has a head of its own")
    try family.meet(at: usb)
  }

  /// Two chunks, of which the first is the same in every version.
  private static func version(_ number: UInt8, in member: Member) throws -> Item {
    let chunks = [
      [UInt8](repeating: 1, count: 1 << 20), [UInt8](repeating: number, count: 300_000),
    ]
    return try file(chunks, in: member)
  }

  private static func file(_ chunks: [[UInt8]], in member: Member) throws -> Item {
    let names = try chunks.map { try member.objects.put(.chunk, $0) as ContentDigest? }
    return Item(
      name: try #require(FileName("scan")), file: .random(),
      size: UInt64(chunks.reduce(0) { $0 + $1.count }), content: .chunks(names), time: .zero)
  }

  private func put(_ item: Item, on device: Family.Device) throws {
    var edit = RecordEdit(record: record)
    edit.items[scan] = item
    try device.commit(edit)
  }

  /// The desk replaces the file and announces what only the old version named, while the laptop, offline, writes more
  /// versions that have a part of it, and at last one that has nothing of it.
  private func part() throws {
    try put(Self.file([[UInt8](repeating: 200, count: 5000)], in: desk.emma), on: desk)
    for number in UInt8(2)...3 { try put(Self.version(number, in: laptop.emma), on: laptop) }
    try put(Self.file([[UInt8](repeating: 201, count: 5000)], in: laptop.emma), on: laptop)
    for device in family.devices { device.clock.turn(bySeconds: 10 * Self.days) }
    #expect(try desk.vault.collect(keepDays: 1, isDryRun: false).waitingMembers == ["Emma"])
    try desk.sync(usb)
  }

  @Test func whatAnOfflineDevicesLineNeedsStaysWithIt() throws {
    try part()
    try family.meet(at: usb)
    // The laptop has seen what was announced.
    #expect(try desk.vault.collect(keepDays: 1, isDryRun: false).objectCount > 0)
    try desk.expectWhole()
    try family.meet(at: usb)
    try family.expectAgreement()
    // The rest goes in the same way.
    for _ in 0..<4 {
      for device in family.devices {
        _ = try device.vault.collect(keepDays: 1, isDryRun: false)
        try device.write("Round", "so that the other one sees what was announced")
        try device.sync(usb)
        try device.expectWhole()
      }
    }
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func whatIsMissingHereAFullSyncBringsFromWhoeverHasIt() throws {
    try family.meet(at: usb)
    let lost = try neededObjects(of: desk)
    for path in lost { try desk.store.remove(path) }
    try desk.sync(usb)
    let report = try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.map(\.kind) == [.missingHere])
    try desk.expectWhole()
    #expect(lost.allSatisfy { desk.store.blobs[$0] == usb.blobs[$0] })
    #expect(try desk.sync(usb) { $0.looksEverywhere = true }.problems == [])
  }

  /// Chunks, lists of chunks and pages, but for the records and segments, which an open vault has in memory.
  private func neededObjects(of device: Family.Device) throws -> [BlobPath] {
    let emma = try device.emma
    return emma.neededObjects(unread: { Issue.record($0) }).filter { $0.kind == .chunk }
      .map { BlobPath(emma.objects.vaultPath(of: $0.digest).string) }
  }

  /// A removal from the remote was cut short, or its disk lost a part of an older version.
  @Test func anOlderRevisionThatCannotBeWholeIsNotTaken() throws {
    try put(Self.file([[UInt8](repeating: 200, count: 5000)], in: desk.emma), on: desk)
    try desk.sync(usb)
    let emma = try desk.emma
    let needed = emma.neededObjects(
      where: { $0.record == record }, unread: { Issue.record($0) })
    let old = needed.filter { $0.isOnlyInHistory && $0.kind == .chunk }
    #expect(old.count == 2)
    try usb.remove(BlobPath(emma.objects.vaultPath(of: #require(old.first).digest).string))
    let fresh = try Family(count: 3)[2]
    #expect(try fresh.sync(usb).untakenHeadCount == 0)
    try fresh.expectWhole()
    #expect(try fresh.contents() == desk.contents())
    #expect(try fresh.emma.history(of: record).count == 1)
  }
}
