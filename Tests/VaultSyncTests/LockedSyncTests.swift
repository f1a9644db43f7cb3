import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// What goes on while nobody has typed the password.
@Suite struct LockedSyncTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
  }

  private func syncLocked(
    _ device: Family.Device, _ change: (inout SyncOptions) -> Void = { _ in }
  ) throws -> SyncReport {
    var options = SyncOptions()
    change(&options)
    return try RemoteSync(
      .locked(
        ClosedVault(
          id: device.vault.id, folder: device.store,
          state: StateFolder(store: device.stateStore))),
      remote: usb, name: #require(RemoteName("usb")), options: options
    ).run()
  }

  @Test func whatWasWrittenGoesOutWithoutAnyKey() throws {
    try family[0].write("New", "x")
    let report = try syncLocked(family[0])
    #expect(report.problems == [])
    #expect(report.pushed.objectCount == 2)
    try family[1].sync(usb)
    try family.expectAgreement()
  }

  @Test func whatCameInWaitsOutsideTheFolderAndIsJoinedLater() throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    let before = family[1].store.blobs
    let report = try syncLocked(family[1])
    #expect(report.pulled.objectCount == 2)
    #expect(family[1].store.blobs == before)
    // Once is enough.
    #expect(try syncLocked(family[1]).pulled.objectCount == 0)
    let joined = try family[1].sync(usb)
    #expect(joined.pulled.objectCount == 2)
    // Only the head is read again.
    #expect(joined.traffic.readByteCount < 2_000)
    #expect(family[1].stateStore.blobs.keys.allSatisfy { !$0.string.hasPrefix("incoming/") })
    try family.expectAgreement()
  }

  @Test func aForgedFileThatWasFetchedWhileLockedIsNotUsed() throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    let fetched = family[1].stateStore.blobs.filter { $0.key.string.hasPrefix("incoming/") }
    #expect(!fetched.isEmpty)
    for path in fetched.keys { try family[1].stateStore.put(path, [1, 2, 3]) }
    let report = try family[1].sync(usb)
    #expect(report.problems == [])
    try family.expectAgreement()
  }

  @Test func aRollbackIsNamedWhileLockedToo() throws {
    let head = BlobPath(
      VaultPath.head(try family[0].emma.id, family[0].vault.device).string)
    let old = try #require(usb.blobs[head])
    try family[0].write("New", "x")
    try family.meet(at: usb)
    try usb.put(head, old)
    let report = try syncLocked(family[1])
    #expect(report.problems.contains { $0.kind == .wentBack && $0.path == head.string })
    #expect(usb.blobs[head] != old)
  }

  @Test func aFirstPushWorksWhileLocked() throws {
    let fresh = MemoryStore()
    let report = try RemoteSync(
      .locked(
        ClosedVault(
          id: family[0].vault.id, folder: family[0].store,
          state: StateFolder(store: family[0].stateStore))), remote: fresh,
      name: #require(RemoteName("fresh"))
    ).run()
    #expect(report.problems == [])
    let newcomer = try Family()
    let pull = try newcomer[1].sync(fresh)
    #expect(pull.problems == [])
    #expect(try newcomer[1].contents() == (try family[0].contents()))
  }
}
