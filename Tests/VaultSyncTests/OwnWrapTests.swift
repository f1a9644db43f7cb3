import BlobStore
import TestSupport
import Testing
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// The wrap of a generation's master key for a device has no signature: whether it is right only that device can tell.
@Suite struct OwnWrapTests {
  private let usb = MemoryStore()
  private let disk = MemoryStore()
  private let family: Family
  private let generation: StatementID
  /// What is wrapped for the second device.
  private let wrap: BlobPath

  /// The first device has removed the third, and everything of it stands on both remotes.
  init() throws {
    family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let owner = family[0].vault
    try owner.beginGeneration(removing: [family[2].vault.device], words: Family.words.words)
    try owner.beginEpoch(of: family[0].emma, without: [])
    generation = owner.context.keys.generation
    wrap = BlobPath(
      VaultPath.wrap(owner.person, generation, family[1].vault.device).string)
    try family[0].sync(usb)
    try family[0].sync(disk, as: "disk")
  }

  private func spoil(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[700] ^= 1
    return bytes
  }

  private func links(_ device: Family.Device) -> Int {
    device.store.blobs.keys.filter { $0.string.contains("/links/") }.count
  }

  @Test func oneThatOpensNothingIsNotTaken() throws {
    try usb.replace(wrap, spoil(#require(usb.blobs[wrap])), durably: true)
    let report = try family[1].sync(usb)
    #expect(report.problems.contains { $0.path == wrap.string && $0.kind == .damagedThere })
    #expect(family[1].store.blobs[wrap] == nil)
    try family[1].sync(disk, as: "disk")
    #expect(family[1].vault.context.keys.generation == generation)
    #expect(try family[1].contents() == family[0].contents())
  }

  /// A copier may have brought it, or an older program taken it.
  @Test func oneThatOpensNothingMakesWayForTheTrueOne() throws {
    try family[1].store.replace(wrap, spoil(#require(usb.blobs[wrap])), durably: true)
    try family[1].sync(usb)
    #expect(family[1].store.blobs[wrap] == usb.blobs[wrap])
    #expect(family[1].vault.context.keys.generation == generation)
    #expect(try family[1].contents() == family[0].contents())
    try family[1].reopen()
    #expect(family[1].vault.context.keys.generation == generation)
  }

  /// It could not open the epoch that it begins, would go on with the one before, and begin one with every sync.
  @Test func aDeviceThatWaitsForItBeginsNoEpoch() throws {
    try usb.remove(wrap)
    let before = links(family[1])
    try family[1].sync(usb)
    try family[1].write("Mine", "written meanwhile")
    for _ in 0..<2 { try family[1].sync(usb) }
    // The link that begins the new epoch comes with a head of it.
    #expect(links(family[1]) == before)
    let count = links(family[0])
    try family[1].sync(disk, as: "disk")
    #expect(family[1].vault.context.keys.generation == generation)
    try family[1].sync(usb)
    try family[0].sync(usb)
    #expect(try family[1].contents() == family[0].contents())
    #expect(try family[0].contents().values.contains("written meanwhile"))
    #expect(links(family[1]) == count)
  }
}
