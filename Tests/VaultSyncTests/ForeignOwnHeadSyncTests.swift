import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Somebody without any key puts a file in the place of the head of a device that has none yet, and keeps nothing from it.
@Suite struct ForeignOwnHeadSyncTests {
  @Test(arguments: [Role.viewer, .editor])
  func noiseThereKeepsNoNewsAway(role: Role) throws {
    let usb = MemoryStore()
    let (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: role, writing: [])
    let path = VaultPath.head(try #require(ben.emma).id, ben.vault.device)
    try ben.store.replace(
      BlobPath(path.string), [UInt8](repeating: 7, count: 300), durably: true)
    try anna.write("Visit")
    try anna.sync(usb)
    #expect(try ben.sync(usb).problems.map(\.path) == [path.string])
    #expect(try ben.titles == ["Visit"])
  }
}
