import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// A tree that is in use while another process begins a new epoch and removes what the old one left.
@Suite struct EpochTests {
  private struct Mount {
    let mounted: MountedVault
    let other: Vault
    var tree: FileTree { mounted.tree }

    init() throws {
      mounted = try MountedVault()
      try mounted.tree.mkdir("Emma")
      try mounted.tree.mkdir("Emma/visit")
      try mounted.tree.write("Emma/visit/file", String(repeating: "old", count: 400_000))
      try mounted.tree.write("Emma/visit/note", "kept")
      try mounted.tree.commitNow()
      other = try mounted.openAgain()
    }

    /// As `unshare` does, and as the mount's own thread does a moment later.
    func beginEpoch(removesAtOnce: Bool) throws {
      let emma = try #require(other.members.first)
      let before = try emma.objects.listed().map(\.name)
      try other.beginEpoch(of: emma, without: [])
      mounted.vault.keepOldObjects { [tree] member in
        tree.withTree { $0.views[member.id]?.mayNameOldObjects ?? false }
      }
      if removesAtOnce { try other.removeOldObjects().requireNone() }
      for _ in 0..<2 {
        tree.refresh()
        try mounted.vault.removeOldObjects().requireNone()
      }
      try tree.commitNow()
      tree.refresh()
      try mounted.vault.removeOldObjects().requireNone()
      let after = Set(try emma.objects.listed().map(\.name))
      #expect(after.isDisjoint(with: before))
    }
  }

  @Test(arguments: [false, true])
  func whatIsShownAndOpenGoesOnBeingRead(removesAtOnce: Bool) throws {
    let mount = try Mount()
    let handle = try mount.tree.open("Emma/visit/file", .read)
    defer { handle.release() }
    #expect(try handle.get(at: 3, count: 3) == Array("old".utf8))
    try mount.beginEpoch(removesAtOnce: removesAtOnce)
    #expect(try handle.get(at: 1_100_001, count: 3) == Array("old".utf8))
    #expect(try mount.tree.text("Emma/visit/note") == "kept")
    try mount.mounted.remount()
    #expect(try mount.mounted.tree.stat("Emma/visit/file").size == 1_200_000)
  }

  @Test(arguments: [false, true])
  func whatIsBeingWrittenIsNotLost(removesAtOnce: Bool) throws {
    let mount = try Mount()
    let handle = try mount.tree.open("Emma/visit/file", [.read, .write])
    // A part of one chunk changes; the rest stands in objects of the old epoch.
    try handle.put(Array("new".utf8), at: 30)
    try mount.tree.write("Emma/visit/more", "more")
    try mount.beginEpoch(removesAtOnce: removesAtOnce)
    try handle.put(Array("newer".utf8), at: 60)
    handle.release()
    try mount.tree.commitNow()
    try mount.mounted.remount()
    let tree = mount.mounted.tree
    let again = try tree.open("Emma/visit/file", .read)
    defer { again.release() }
    #expect(try again.get(at: 27, count: 9) == Array("oldnewold".utf8))
    #expect(try again.get(at: 60, count: 5) == Array("newer".utf8))
    #expect(try again.get(at: 1_199_997, count: 3) == Array("old".utf8))
    #expect(try tree.text("Emma/visit/more") == "more")
    let problems = try mount.mounted.vault.check(readsData: true).problems
    #expect(problems.filter { $0.severity > .note } == [])
  }
}
