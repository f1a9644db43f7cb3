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

  private func isUnderKeysInUse(_ title: String) throws -> Bool {
    let emma = try #require(anna.emma)
    let entry = try #require(emma.allEntries().first { $0.title.string == title })
    return try emma.objects.isPresentNow(entry.revision)
  }

  @Test(arguments: [false, true])
  func nothingOfItIsPutUnderKeysThatTheOldOnesOpen(beginsAnother: Bool) throws {
    let emma = try #require(anna.emma)
    let own = emma.epoch
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
    #expect((emma.epoch == own) == !beginsAnother)
    #expect(try anna.titles == ["After", "Anna's", "Visit"])
    #expect(try !isUnderKeysInUse("After"))
    // The closing comes: then an epoch follows that both of them serve.
    for _ in 0..<2 { for adult in [anna, ben] { try adult.sync(usb, looksEverywhere: true) } }
    #expect(try isUnderKeysInUse("After"))
    #expect(try ben.titles == anna.titles)
    #expect(try anna.sync(usb).problems.isEmpty)
  }
}
