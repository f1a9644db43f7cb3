import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// A store without any key shows what was written under new keys, and not the closing for which these were made.
@Suite struct WithheldClosingTests {
  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult

  /// Ben, an owner, has closed his keys and gone on under a new epoch; Anna has begun one that knows nothing of it.
  init() throws {
    (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: .owner)
    try ben.vault.beginGeneration(
      removing: [], words: RecoveryWords(parsing: ben.words.joined(separator: " ")))
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [])
    try ben.write("After")
    try ben.sync(usb)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [])
  }

  @Test(arguments: [false, true])
  func nothingIsPutUnderKeysThatTheOldOnesOpen(beginsAnother: Bool) throws {
    let emma = try #require(anna.emma)
    let before = emma.epoch
    let links = Set(emma.register.links.files.keys)
    for (path, bytes) in usb.blobs where !path.string.contains("/closings/") {
      if try anna.store.size(of: path) == nil {
        try anna.store.replace(path, bytes, durably: true)
      }
    }
    let head = BlobPath(VaultPath.head(emma.id, ben.vault.device).string)
    try anna.store.replace(head, usb.read(head, limit: 1 << 20), durably: true)
    _ = try emma.joinConcurrent()
    try anna.write("Anna's")
    if beginsAnother { try anna.vault.beginEpoch(of: emma, without: []) }
    // Her own epoch has a key for those of Ben's that he has closed, and the one that he began has not.
    #expect(emma.epoch != before)
    #expect(try anna.titles == ["After", "Anna's", "Visit"])
    for entry in emma.allEntries() where entry.title.string != "Visit" {
      let path = VaultPath.object(emma.id, emma.objects.name(of: entry.revision, in: before))
      #expect(entry.record == .root || anna.store.blobs[BlobPath(path.string)] == nil)
    }
    for (path, _) in emma.register.links.files {
      guard !links.contains(path), case .link(_, let id) = path else { continue }
      let link = try #require(emma.register.links.history.link(id))
      if link.person == anna.vault.person {
        #expect(!link.wraps.contains { $0.person == ben.vault.person })
      }
    }
    // The closing comes: then both of them have all keys.
    for _ in 0..<2 { for adult in [anna, ben] { try adult.sync(usb, looksEverywhere: true) } }
    #expect(try ben.titles == anna.titles)
    #expect(try anna.sync(usb).problems.isEmpty)
  }
}
