import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Two devices that have merged the same three versions of a record in different order: the two merges know the same, one of
/// them counts, and nobody needs the other one.
@Suite struct MergedTwiceTests {
  private let family: Family
  private let usb = MemoryStore()
  private let nas = MemoryStore()
  private let record: RecordID
  private let merges: [ContentDigest]

  private var tablet: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }
  private var phone: Family.Device { family[2] }
  private var desk: Family.Device { family[3] }

  init() throws {
    family = try Family(count: 4)
    let (tablet, laptop, phone) = (family[0], family[1], family[2])
    let visit = try tablet.write("Visit", "first")
    record = visit
    try family.meet(at: usb)
    for device in family.devices + family.devices { try device.sync(nas, as: "nas") }
    for (number, device) in [tablet, laptop, phone].enumerated() {
      try Self.write(number, into: record, on: device)
    }
    let (tablets, laptops, phones) = (MemoryStore(), MemoryStore(), MemoryStore())
    try tablet.sync(tablets, as: "tablets")
    try laptop.sync(laptops, as: "laptops")
    try phone.sync(phones, as: "phones")
    try tablet.sync(phones, as: "phones") { $0.direction = .pull }
    try laptop.sync(phones, as: "phones") { $0.direction = .pull }
    try tablet.sync(laptops, as: "laptops") { $0.direction = .pull }
    try laptop.sync(tablets, as: "tablets") { $0.direction = .pull }
    let entries = try [tablet, laptop].map { try #require($0.emma.entry(visit)) }
    merges = entries.map(\.revision)
    #expect(entries[0].version == entries[1].version && merges[0] != merges[1])
  }

  /// Puts a file of its own into the record, and so many records beside it that one segment is not put together with the next.
  private static func write(
    _ number: Int, into record: RecordID, on device: Family.Device
  ) throws {
    let emma = try device.emma
    var edit = RecordEdit(record: record)
    let item = try Item.photo("part \(number)", byteCount: 3000, seed: UInt64(number), in: emma)
    edit.items[item.name] = item
    let others = (0..<40).map { RecordEdit.newRecord("Other \(number) \($0)") }
    #expect(try emma.commit([edit] + others).failures.isEmpty)
  }

  /// The desk takes both from one remote, and carries them to another one, from which the phone takes them.
  private func expectCarried() throws {
    #expect(try desk.sync(nas, as: "nas").problems == [])
    let winner = try #require(desk.emma.entry(record)).revision
    let loser = try #require(merges.first { $0 != winner })
    #expect(merges.contains(winner))
    #expect(try !desk.emma.objects.isPresent(loser))
    try desk.expectWhole()
    #expect(try desk.sync(usb).problems == [])
    #expect(try desk.sync(usb).pushed.isEmpty)
    #expect(try phone.sync(usb).problems == [])
    #expect(try phone.contents() == desk.contents())
    try phone.expectWhole()
  }

  @Test func aHeadThatNamesBothIsCarriedOn() throws {
    for device in [tablet, laptop, tablet] { try device.sync(nas, as: "nas") }
    // Each now names the one that counts beside the one that it has written.
    try tablet.write("After", "tablet")
    try laptop.write("After", "laptop")
    for device in [tablet, laptop] { try device.sync(nas, as: "nas") }
    try expectCarried()
  }

  @Test func headsThatNameOneEachAreCarriedOn() throws {
    for device in [tablet, laptop] { try device.sync(nas, as: "nas") }
    try expectCarried()
  }
}
