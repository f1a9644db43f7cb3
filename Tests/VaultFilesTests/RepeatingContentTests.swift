import TestSupport
import Testing
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// Equal bytes are one object, however many files have them: what one file lets go of, another still needs.
@Suite struct RepeatingContentTests {
  /// In a file of its own where it is larger than what waits in memory.
  static let sizes = [5, 200_000]

  @Test(arguments: sizes)
  func aFileWithoutANameLetsGoOfItsContentOnce(size: Int) throws {
    let content = [UInt8](repeating: 7, count: size)
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/f2", content)
    try tree.write("Emma/f1", content)
    let inode = try tree.find("Emma/f1")
    let reader = try tree.open(inode, .read)
    try tree.unlink("Emma/f1")
    #expect(try reader.get(at: 0, count: content.count) == content)
    reader.release()
    for _ in 0..<2 {
      let again = try tree.open(inode, .read)
      #expect(try again.get(at: 0, count: content.count) == content)
      again.release()
    }
    try tree.commitNow()
    #expect(try tree.read("Emma/f2") == content)
    try mounted.remount()
    #expect(try mounted.tree.read("Emma/f2") == content)
    #expect(try mounted.tree.list("Emma") == ["f2"])
  }

  @Test func aFileWithoutANameKeepsWhatWasWrittenUntilNothingReachesIt() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/f", "before")
    let inode = try tree.find("Emma/f")
    let writer = try tree.open(inode, [.read, .write])
    try tree.unlink("Emma/f")
    try writer.put(Array("after".utf8), at: 0)
    try writer.flush()
    writer.release()
    try tree.commitNow()
    let reader = try tree.open(inode, .read)
    #expect(try reader.get(at: 0, count: 9) == Array("aftere".utf8))
    reader.release()
    tree.forget(inode, 1000)
    #expect(throws: FileError.stale) { try tree.open(inode, .read) }
  }

  /// What is committed already is not what another file has put since, though it has the same name.
  @Test(arguments: sizes)
  func whatACommitHasIsNotLetGoOfForOthers(size: Int) throws {
    let content = [UInt8](repeating: 7, count: size)
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/committed", content)
    try tree.commitNow()
    try tree.write("Emma/new", content)
    try tree.write("Emma/committed", "other")
    let removed = try tree.find("Emma/committed")
    try tree.unlink("Emma/committed")
    try tree.rename("Emma/new", "Emma/newer")
    try tree.commitNow()
    #expect(try tree.read("Emma/newer") == content)
    for inode in [removed, try tree.find("Emma/newer")] { tree.forget(inode, 1000) }
    mounted.vault.members[0].objects.removeUnused()
    #expect(mounted.vault.members[0].objects.stagedCount == 0, "nothing waits any more")
  }

  @Test(arguments: Seeds.first(20, unless: "KINVAULT_LIVE_SEEDS"))
  func aScheduleShowsWhatTheModelSays(seed: UInt64) throws {
    let schedule = try RepeatingSchedule(seed: seed)
    for _ in 0..<100 { try schedule.performRandomStep() }
    try schedule.end()
  }
}
