import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
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
    let ben = try SyncingAdult.editor(of: family, at: remote)
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

  /// An editor says that they have taken over what an owner's machine wrote under the key before, and is on a remote with that
  /// before the owner's head, which stands on another one: it is taken all the same, if it is still to be had.
  @Test(arguments: [false, true])
  func whatAnOwnerWroteIsNotLeftOut(isGone: Bool) throws {
    let family = try Family()
    let (desk, laptop, other) = (family[0], family[1], MemoryStore())
    for device in family.devices { try device.knowRemotes(["usb", "other"]) }
    try desk.write("Visit", "visit")
    for _ in 0..<2 {
      try family.meet(at: remote)
      for device in family.devices { try device.sync(other, as: "other") }
    }
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(remote)
    try desk.sync(remote)
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .editor)
    try family.meet(at: remote)
    try laptop.write("Late", "late")
    let before = Set(other.blobs.keys)
    try laptop.sync(other, as: "other")
    let late = try laptop.emma.heads.withLock { try #require($0.loaded[laptop.vault.device]) }
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(remote)
    try ben.sync(remote)
    let member = try #require(ben.vault.members.first)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        head.cover.removeAll { $0.device == laptop.vault.device }
        head.cover.append(
          Head.Cover(device: laptop.vault.device, counter: late.counter, headHash: late.hash))
        head.cover.sort { $0.device < $1.device }
      }
      heads = writer.heads
    }
    try ben.sync(remote)
    try desk.sync(remote)
    if isGone {
      for path in other.blobs.keys where !before.contains(path) {
        if case .object? = VaultPath(parsing: path.string) { try other.remove(path) }
      }
    }
    for _ in 0..<2 {
      let report = try desk.sync(other, as: "other")
      #expect(!report.problems.contains { $0.severity > .note }, "\(report.problems)")
      #expect(try desk.contents().values.contains("late") == !isGone)
      try desk.reopen()
    }
    if isGone { return }
    try desk.sync(remote)
    try ben.sync(remote)
    #expect(try ben.titles == ["Visit", "Late"])
  }
}
