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
    let anna = SyncingAdult(try Family(count: 1)[0])
    try anna.sync(usb)
    let ben = try SyncingAdult(joining: anna.vault.invite(), as: "Ben")
    try ben.sync(usb)
    try anna.sync(usb)
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: role)
    try anna.sync(usb)
    try ben.sync(usb)
    let path = VaultPath.head(try #require(ben.emma).id, ben.vault.device)
    try ben.store.replace(
      BlobPath(path.string), [UInt8](repeating: 7, count: 300), durably: true)
    try anna.write("Visit")
    try anna.sync(usb)
    #expect(try ben.sync(usb).problems.map(\.path) == [path.string])
    #expect(try ben.titles == ["Visit"])
  }
}
