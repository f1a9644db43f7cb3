import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// An editor's head names a head of an owner's machine that was never written, and is on the remote before the real one.
@Suite struct HearsaySyncTests {
  private let remote = MemoryStore()

  @Test(arguments: [false, true])
  func aLieThatComesFirstKeepsNoOwnersHeadAway(isHeard: Bool) throws {
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    try desk.write("Visit", "visit")
    try family.meet(at: remote)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    try desk.sync(remote)
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    for _ in 0..<2 {
      try family.meet(at: remote)
      try ben.sync(remote)
    }
    // Ben's client is changed so that it writes what he likes.
    let (device, member) = (desk.vault.device, try #require(ben.vault.members.first))
    try member.heads.withLock { heads in
      let counter = try #require(heads.loaded[device]?.counter) + 1
      let lie = Head.Cover(device: device, counter: counter, headHash: .zero)
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        head.cover.removeAll { $0.device == device }
        if isHeard {
          head.heard = [lie]
        } else {
          head.cover.append(lie)
          head.cover.sort { $0.device < $1.device }
        }
      }
      heads = writer.heads
    }
    try ben.sync(remote)
    try laptop.sync(remote)
    try desk.write("Allergy", "allergy")
    try desk.sync(remote)
    for _ in 0..<2 {
      #expect(try laptop.sync(remote).problems.filter { $0.path.contains(device.hex) } == [])
      #expect(try Set(["visit", "allergy"]).isSubset(of: laptop.contents().values))
      try laptop.reopen()
      let told = laptop.vault.problems.filter { $0.kind == .fork }.map(\.path)
      #expect(try told == [VaultPath.head(laptop.emma.id, ben.vault.device).string])
    }
    #expect(try Set(["visit", "allergy"]).isSubset(of: laptop.contents().values))
  }
}
