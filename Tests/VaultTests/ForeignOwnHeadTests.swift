import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault

/// Somebody without any key puts a file in the place of the head of a device that has none yet.
@Suite struct ForeignOwnHeadTests {
  /// Ben is an editor of Emma's who has not written anything, and has a member of his own.
  private func family() throws -> (Adults, VaultPath) {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let emma = try #require(adults.ben.emma)
    let path = VaultPath.head(emma.id, adults.ben.vault.device)
    #expect(adults.ben.store.blobs[BlobPath(path.string)] == nil)
    return (adults, path)
  }

  private func requireWorks(_ adults: Adults, with bytes: [UInt8], at path: VaultPath) throws {
    let ben = adults.ben
    try ben.store.replace(BlobPath(path.string), bytes, durably: true)
    _ = try #require(ben.emma).refresh()
    #expect(ben.emma?.damageReason == nil)
    try ben.reopen()
    // It is told, and stops nobody.
    #expect(ben.problems(at: path).count == 1)
    #expect(ben.emma?.damageReason == nil)
    try ben.write("Visit")
    try ben.reopen()
    #expect(ben.vault.problems == [])
    #expect(try ben.titles == ["Visit"])
    try adults.meet()
    #expect(try adults.anna.titles == ["Visit"])
  }

  @Test func aHeadOfAnotherDeviceThereStopsNobody() throws {
    let (adults, path) = try family()
    let emma = try #require(adults.ben.emma)
    let other = VaultPath.head(emma.id, adults.anna.vault.device)
    let bytes = try #require(adults.ben.store.blobs[BlobPath(other.string)])
    try requireWorks(adults, with: bytes, at: path)
  }

  @Test func theSameDevicesHeadOfAnotherMemberThereStopsNobody() throws {
    let (adults, path) = try family()
    let liam = try adults.ben.vault.addMember(named: #require(FileName("Liam")))
    let other = VaultPath.head(liam.id, adults.ben.vault.device)
    let bytes = try #require(adults.ben.store.blobs[BlobPath(other.string)])
    try requireWorks(adults, with: bytes, at: path)
  }

  @Test func noiseThereStopsNobody() throws {
    let (adults, path) = try family()
    try requireWorks(adults, with: [UInt8](repeating: 7, count: 300), at: path)
  }

  /// What the state says was there is not begun anew.
  @Test func noiseOverAHeadThatWasThereIsDamage() throws {
    let (adults, path) = try family()
    let ben = adults.ben
    try ben.write("Visit")
    try ben.reopen()
    let whole = try #require(ben.store.blobs[BlobPath(path.string)])
    try ben.store.replace(BlobPath(path.string), [7], durably: true)
    try ben.reopen()
    // This machine has kept it, and puts it back.
    #expect(ben.store.blobs[BlobPath(path.string)] == whole)
    #expect(try ben.titles == ["Visit"])
  }

  /// The head that Ben's machine wrote before he was let out, and in again, is put in place of its newer one, which nobody has
  /// got.
  @Test func aHeadOfBeforeThereLosesNothing() throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .editor)
    try ben.write("Before")
    try adults.meet()
    let emma = try #require(ben.emma)
    let path = BlobPath(VaultPath.head(emma.id, ben.vault.device).string)
    let before = try #require(ben.store.blobs[path])
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    try adults.meet()
    try adults.share(with: ben, .editor)
    try ben.write("Unsent")
    // New keys have everything be read anew.
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [])
    try Replicas.carry(from: anna.store, to: ben.store)
    try ben.store.replace(path, before, durably: true)
    _ = try #require(ben.emma).refresh()
    #expect(try ben.titles == ["Before", "Unsent"])
    try ben.write("After")
    try adults.meet()
    #expect(try anna.titles == ["Before", "Unsent", "After"])
  }
}
