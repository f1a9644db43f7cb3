import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// When a sync is over before the vault is opened, and when not.
@Suite struct StillSyncTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    try family[0].write("Visit", "all well")
    try family.meet(at: usb)
    for device in family.devices { try device.sync(usb) }
  }

  private func still(
    _ remote: any BlobStore, as name: String = "usb", after: UInt64 = 0,
    _ options: SyncOptions = SyncOptions()
  ) throws -> SyncReport? {
    let device = family[0]
    let now = device.clock.milliseconds() + after
    return try StillSync(
      vault: device.vault.id, folder: device.store, state: StateFolder(store: device.stateStore),
      remote: remote, name: #require(RemoteName(name)), options: options,
      clock: WallClock { now }
    ).run()
  }

  @Test func nothingToDoNeedsNoVault() throws {
    let before = family[0].store.blobs
    let report = try #require(try still(usb))
    #expect(report.isComplete)
    #expect(report.problems == [])
    #expect(report.pulled.isEmpty && report.pushed.isEmpty)
    #expect(report.traffic.requestCount <= 8)
    #expect(family[0].store.blobs == before)
  }

  @Test func aSuccessIsRemembered() throws {
    let file = RemoteStateFile(
      state: StateFolder(store: family[0].stateStore), remote: try #require(RemoteName("usb")))
    let before = try file.load()
    _ = try still(usb, after: 1000)
    #expect(try file.load().lastSuccess ?? 0 > before.lastSuccess ?? 0)
  }

  @Test func anEditHereAsksTheRemoteNothing() throws {
    try family[0].write("Visit 2", "well again")
    let recording = RecordingStore(usb)
    #expect(try still(recording) == nil)
    #expect(recording.calls.isEmpty)
  }

  @Test func anEditThereNeedsASync() throws {
    try family[1].write("Visit 2", "well again")
    try family[1].sync(usb)
    let memory = family[0].stateStore.blobs
    #expect(try still(usb) == nil)
    #expect(family[0].stateStore.blobs == memory)
  }

  @Test func aNewPersonOrGrantThereNeedsASync() throws {
    _ = try family[1].vault.addMember(named: #require(FileName("Liam")))
    try family[1].sync(usb)
    #expect(try still(usb) == nil)
  }

  @Test func aRemoteThatLostSomethingNeedsASync() throws {
    for path in usb.blobs.keys where path.name != "vault.json" {
      let isSigned = !path.string.contains("/objects/") && !path.string.hasPrefix("audit")
      guard isSigned, !path.string.contains("/grants/"), path.name != "root" else { continue }
      let poorer = MemoryStore()
      for (other, bytes) in usb.blobs where other != path { try poorer.put(other, bytes) }
      #expect(try still(poorer) == nil, "\(path)")
    }
    #expect(try still(MemoryStore()) == nil)
  }

  @Test func aFolderThatWentBackOnBothSidesNeedsASync() throws {
    let (old, there) = (family[0].store.imageAfterKill(), MemoryStore())
    for (path, bytes) in usb.blobs { try there.put(path, bytes) }
    try family[0].sync(there, as: "other")
    #expect(try still(there, as: "other") != nil)
    try family[0].write("Visit 2", "well again")
    family[0].store = old
    #expect(try still(there, as: "other") == nil)
  }

  @Test func onceADayEverythingIsLookedAt() throws {
    #expect(try still(usb, after: 90_000_000) == nil)
    var options = SyncOptions()
    options.looksEverywhere = true
    #expect(try still(usb, options) == nil)
  }

  @Test func aRemoteThatCannotBeReachedIsTold() throws {
    let broken = FaultyStore(usb)
    broken.fail(.read, with: .unreachable)
    #expect(throws: SyncError.self) { try still(broken) }
  }
}
