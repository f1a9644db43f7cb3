import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// Whether the wrap of a key for another device is right only that one can tell. What it was a machine can know.
@Suite struct OthersWrapTests {
  private let usb = MemoryStore()
  private let family: Family
  private let wrap: BlobPath
  private let whole: [UInt8]

  init() throws {
    family = try Family(count: 2)
    try family.meet(at: usb)
    let generation = family[0].vault.context.keys.generation
    wrap = BlobPath(
      VaultPath.wrap(family[0].vault.person, generation, family[1].vault.device).string)
    whole = try #require(family[0].store.blobs[wrap])
  }

  private func damage(_ store: MemoryStore) throws {
    var bytes = whole
    bytes[700] ^= 1
    try store.replace(wrap, bytes, durably: true)
  }

  private func problems(_ readsData: Bool = false) throws -> [Problem] {
    try family[0].vault.check(readsData: readsData).problems.filter { $0.severity > .note }
  }

  @Test(arguments: [false, true]) func aDamagedOneIsToldAndMended(_ isReopened: Bool) throws {
    try damage(family[0].store)
    if isReopened { try family[0].reopen() }
    #expect(try problems(true).map(\.path) == [wrap.string])
    for _ in 0..<2 {
      let found = try family[0].sync(usb).problems
      #expect(found.map(\.kind) == [.damagedHere] && found.map(\.path) == [wrap.string])
    }
    #expect(usb.blobs[wrap] == whole)
    let report = try RemoteMending(vault: family[0].vault, remote: usb).run(readsData: false)
    #expect(report.mended.map(\.string) == [wrap.string])
    #expect(family[0].store.blobs[wrap] == whole)
    #expect(try problems() == [])
    #expect(try family[0].sync(usb).problems == [])
  }

  @Test func aDamagedOneIsNotSent() throws {
    let disk = MemoryStore()
    try damage(family[0].store)
    try family[0].sync(disk, as: "disk")
    #expect(disk.blobs[wrap] == nil)
  }

  @Test func oneThatIsGoneIsToldAndBroughtBack() throws {
    try family[0].store.remove(wrap)
    #expect(try problems().map(\.kind) == [.missing])
    try family[0].sync(usb)
    #expect(family[0].store.blobs[wrap] == whole)
    #expect(try problems() == [])
  }

  /// The remote's is the damaged one: what is here stays, and nothing is mended from there.
  @Test func oneThatTheRemoteHasChangedIsNotTaken() throws {
    try damage(usb)
    let found = try family[0].sync(usb).problems
    #expect(found.map(\.kind) == [.differs])
    #expect(!found[0].text.contains("verified"))
    #expect(try problems() == [])
    try family[0].store.remove(wrap)
    let report = try RemoteMending(vault: family[0].vault, remote: usb).run(readsData: false)
    #expect(report.mended.isEmpty && family[0].store.blobs[wrap] == nil)
  }
}
