import BlobStore
import TestSupport
import Testing
import Threads
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault

/// Somebody who may write makes up so much that what an honest device has to say of it would be more than anybody reads. What is
/// saved is saved all the same, and no head takes the place of one that can be read but another such.
@Suite struct CrowdedHeadTests {
  private let adults: Adults

  /// Anna, an owner who came after her, and an editor.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
  }

  @Test func whatNobodyCouldReadTakesThePlaceOfNoHead() throws {
    let anna = adults.anna
    try anna.write("Before")
    let member = try #require(anna.emma)
    let path = BlobPath(VaultPath.head(member.id, anna.vault.device).string)
    let before = anna.store.blobs[path]
    let cover = Head.Cover(device: .random(), counter: 1, headHash: .random())
    #expect(throws: VaultError.self) {
      try member.heads.withLock { heads in
        var writer = CommitWriter(member: member, heads: heads)
        try writer.writeHead(.checkpoint) { head in
          head.cover = Array(repeating: cover, count: Limits.headDevices + 1)
        }
        heads = writer.heads
      }
    }
    #expect(anna.store.blobs[path] == before)
    try anna.reopen()
    #expect(try anna.titles == ["Before"])
  }

  /// Ben writes links that change nothing, none of which knows of another one.
  private func writeLinksBesideOneAnother(count: Int) throws {
    let ben = adults.ben
    let emma = try #require(ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: ben.id).first)
    var link = try ben.vault.link(of: emma, as: seat, [])
    for number in 0..<count {
      link.time = UInt64(number) + 1
      for adult in adults.everyone { try ben.vault.forge(link, into: adult.store) }
    }
    for adult in adults.everyone { try adult.reopen() }
  }

  @Test func moreLinksThanAHeadNamesKeepNobodyFromSaving() throws {
    try writeLinksBesideOneAnother(count: 1_050)
    let history = try #require(adults.anna.emma).register.links.history
    try #require(history.tips.count > 1_024)
    for (adult, title) in [(adults.anna, "Of Anna"), (adults.carla, "Of Carla")] {
      try adult.write(title)
      try adult.reopen()
      #expect(try adult.titles.contains(title))
      #expect(adult.vault.problems.filter { $0.severity == .damage } == [])
    }
    try adults.carry(from: adults.carla, to: adults.anna)
    try adults.carry(from: adults.anna, to: adults.carla)
    for adult in [adults.anna, adults.carla] {
      #expect(try adult.titles.isSuperset(of: ["Of Anna", "Of Carla"]))
    }
  }

  @Test func norAnOwnerFromTakingThemOut() throws {
    try writeLinksBesideOneAnother(count: 1_050)
    let anna = adults.anna
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [adults.ben.id])
    try anna.reopen()
    let links = try #require(anna.emma).register.links
    #expect(!links.access.includes(adults.ben.id))
    #expect(links.access.includes(adults.carla.id))
    try anna.write("Without Ben")
    try adults.carry(from: anna, to: adults.carla)
    #expect(try adults.carla.titles.contains("Without Ben"))
  }
}
