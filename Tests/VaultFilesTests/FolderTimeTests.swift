import BlobStore
import Glibc
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// When the time of a directory is written of which nothing else changed: Docs/Format.md, "11. Write order".
@Suite struct FolderTimeTests {
  private let mounted: MountedVault
  private var tree: FileTree { mounted.tree }

  init() throws {
    mounted = try MountedVault()
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/Visits")
    try tree.commitNow()
  }

  /// As the background does it after a second.
  private func commit() throws {
    for member in tree.members { try tree.commit(member) }
  }

  /// What the vault has of the directory.
  private func entry(of path: String = "Emma/Visits") throws -> RecordEntry {
    let inode = try tree.find(path)
    let (member, record) = try tree.look { (tree) throws(TreeObstacle) in
      let directory = try tree.directory(inode)
      return (directory.view.member, directory.record)
    }
    return try #require(member.entry(record))
  }

  @Test func recordsMadeRenamedAndRemovedWriteNoRevisionOfTheirFolder() throws {
    let before = try entry()
    try tree.mkdir("Emma/Visits/a")
    try commit()
    try tree.rename("Emma/Visits/a", "Emma/Visits/b")
    try commit()
    try tree.rmdir("Emma/Visits/b")
    try commit()
    #expect(try entry() == before)
    let shown = try tree.stat("Emma/Visits").modified
    #expect(shown > before.modified)
    try tree.commitNow()
    #expect(try entry().modified == shown)
    #expect(try mounted.differencesFromFresh() == [])
  }

  @Test func whatElseChangesThereTakesTheTimeAlong() throws {
    try tree.mkdir("Emma/Visits/a")
    try commit()
    try tree.write("Emma/Visits/file", "x")
    try commit()
    #expect(try entry().modified == tree.stat("Emma/Visits").modified)
    try tree.mkdir("Emma/Visits/c")
    try commit()
    try tree.rename("Emma/Visits", "Emma/Doctors")
    try commit()
    #expect(try entry(of: "Emma/Doctors").modified == tree.stat("Emma/Doctors").modified)
  }

  @Test func aTimeThatSomebodySetsStands() throws {
    let early = FileTimestamp(seconds: 1_000_000_000, nanoseconds: 5)
    try tree.mkdir("Emma/Visits/a")
    _ = try tree.setAttributes(
      tree.find("Emma/Visits"), AttributeChange(modified: .to(early)), through: nil)
    try commit()
    #expect(try entry().modified == early)
    tree.refresh()
    #expect(try tree.stat("Emma/Visits").modified == early)
  }

  /// A date that lies ahead, as a camera or a wrong clock gives one, ends with the next change.
  @Test func aTimeAheadEndsWithTheNextChange() throws {
    let ahead = FileTimestamp(seconds: 4_000_000_000, nanoseconds: 0)
    _ = try tree.setAttributes(
      tree.find("Emma/Visits"), AttributeChange(modified: .to(ahead)), through: nil)
    try commit()
    #expect(try tree.stat("Emma/Visits").modified == ahead)
    try tree.mkdir("Emma/Visits/a")
    let shown = try tree.stat("Emma/Visits").modified
    #expect(shown < ahead)
    try tree.commitNow()
    #expect(try tree.stat("Emma/Visits").modified == shown)
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// The vault knows times that this machine's clock has not reached.
  @Test func aClockThatIsBehindShowsWhatIsWritten() throws {
    let clock = TurnedClock(4_000_000_000_000)
    let mounted = try MountedVault(clock: clock.wallClock)
    let tree = mounted.tree
    let ahead = FileTimestamp(seconds: 4_000_000_000, nanoseconds: 0)
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/Visits")
    _ = try tree.setAttributes(
      tree.find("Emma/Visits"), AttributeChange(modified: .to(ahead)), through: nil)
    try tree.commitNow()
    try tree.mkdir("Emma/Visits/a")
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
  }

  @Test func syncingTheFolderWritesItsTime() throws {
    try tree.mkdir("Emma/Visits/a")
    try commit()
    let shown = try tree.stat("Emma/Visits").modified
    try tree.syncDirectory(tree.find("Emma/Visits"))
    try mounted.crash()
    #expect(try tree.stat("Emma/Visits").modified == shown)
  }

  /// After the fsync no commit has it yet; one comes by itself.
  @Test func whatWasSyncedIsCommittedSoon() throws {
    let mounted = try MountedVault {
      $0.commitDelay = .milliseconds(20)
      $0.pollInterval = .milliseconds(20)
    }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.commitNow()
    let emma = try #require(mounted.vault.members.first)
    try tree.mkdir("Emma/a")
    for member in tree.members { try tree.commit(member) }
    let shown = try tree.stat("Emma").modified
    tree.start()
    try tree.syncDirectory(tree.find("Emma"))
    for _ in 0..<6000 where emma.entry(.root)?.modified != shown { usleep(20_000) }
    #expect(emma.entry(.root)?.modified == shown)
    try tree.stop()
  }

  @Test func unmountingWritesIt() throws {
    try tree.mkdir("Emma/Visits/a")
    try commit()
    let shown = try tree.stat("Emma/Visits").modified
    try mounted.remount()
    #expect(try tree.stat("Emma/Visits").modified == shown)
  }

  /// Not by a commit of its own, which would look as if somebody had written.
  @Test func anyCommitTakesWhatHasWaitedLong() throws {
    // A busy machine may need longer for what is to come before.
    let isTried = try [100, 2_000, 20_000].contains { try isTakenAfterWaiting(milliseconds: $0) }
    #expect(isTried)
  }

  /// - Returns: False if too much time went by to say.
  private func isTakenAfterWaiting(milliseconds: Int) throws -> Bool {
    let delay = Duration.milliseconds(milliseconds)
    let mounted = try MountedVault { $0.timeDelay = delay }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/Visits")
    try tree.mkdir("Emma/Scans")
    try tree.commitNow()
    let emma = try #require(mounted.vault.members.first)
    let folder = try #require(emma.children(of: .root).first { $0.title == FileName("Visits") })
    func commit() throws { for member in tree.members { try tree.commit(member) } }
    func written() -> FileTimestamp? { emma.entry(folder.record)?.modified }
    let began = ContinuousClock.now
    try tree.mkdir("Emma/Visits/a")
    try commit()
    guard ContinuousClock.now - began < delay else { return false }
    usleep(UInt32(milliseconds) * 2_000)
    try commit()
    #expect(written() == folder.modified)
    try tree.write("Emma/Scans/file", "x")
    try commit()
    #expect(try written() == tree.stat("Emma/Visits").modified)
    #expect(written() != folder.modified)
    return true
  }

  /// What another device makes of the directory's other attributes while its time waits stands.
  @Test func onlyTheTimeWaits() throws {
    let other = try mounted.mountOnAnotherDevice()
    try tree.mkdir("Emma/Visits/a")
    try commit()
    let shown = try tree.stat("Emma/Visits").modified
    let folder = try other.find("Emma/Visits")
    _ = try other.setAttributes(folder, AttributeChange(mode: 0o1750), through: nil)
    try other.setXattr(folder, Array("user.colour".utf8), [7], mode: .create)
    try other.commitNow()
    tree.refresh()
    #expect(try tree.stat("Emma/Visits").mode == FileMode.directory | 0o1750)
    #expect(try tree.stat("Emma/Visits").modified == shown)
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.stat("Emma/Visits").mode == FileMode.directory | 0o1750)
    #expect(try tree.xattr(tree.find("Emma/Visits"), Array("user.colour".utf8)) == [7])
    #expect(try tree.stat("Emma/Visits").modified == shown)
  }

  /// Who sets the attributes later, without knowing of the time that waits, is not overruled by it.
  @Test func whoChangesTheFolderLaterElsewhereWins() throws {
    let apart = try ApartDevices { tree in
      try tree.mkdir("Emma")
      try tree.mkdir("Emma/Visits")
    }
    let (tree, other) = (apart.here.tree, apart.there)
    try tree.mkdir("Emma/Visits/a")
    for member in tree.members { try tree.commit(member) }
    usleep(20_000)
    _ = try other.setAttributes(
      other.find("Emma/Visits"), AttributeChange(mode: 0o1750), through: nil)
    try other.commitNow()
    usleep(20_000)
    try tree.commitNow()
    try apart.meet()
    for each in [tree, other] {
      #expect(try each.stat("Emma/Visits").mode == FileMode.directory | 0o1750)
      #expect(try each.list("Emma/Visits") == ["a"])
    }
  }

  @Test(arguments: [true, false])
  func aTimeThatSomebodyElseSetsBackMeanwhileStands(isSeenBefore: Bool) throws {
    let other = try mounted.mountOnAnotherDevice()
    let early = FileTimestamp(seconds: 1_000_000_000, nanoseconds: 5)
    try tree.mkdir("Emma/Visits/a")
    try commit()
    _ = try other.setAttributes(
      other.find("Emma/Visits"), AttributeChange(modified: .to(early)), through: nil)
    try other.commitNow()
    if isSeenBefore { tree.refresh() }
    try tree.commitNow()
    #expect(try entry().modified == early)
    tree.refresh()
    #expect(try tree.stat("Emma/Visits").modified == early)
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// Times are not worth a mount that can never be ended.
  @Test(arguments: [true, false])
  func whoMayNotWriteAnyMoreLosesTheTimeAlone(isSeenBefore: Bool) throws {
    try tree.mkdir("Emma/Visits/a")
    try commit()
    let emma = try #require(mounted.vault.members.first)
    let other = try mounted.joinAsAnotherPerson()
    let theirs = FileTree.load(vault: other, options: mounted.options)
    try mounted.vault.share(emma, with: other.person, role: .editor)
    _ = try other.refreshMembers()
    theirs.refresh()
    try theirs.mkdir("Emma/Visits/b")
    for member in theirs.members { try theirs.commit(member) }
    let committed = try entry().modified
    _ = try emma.refresh()
    try mounted.vault.beginEpoch(of: emma, without: [other.person], keepsHistory: true)
    try mounted.vault.share(emma, with: other.person, role: .viewer)
    if isSeenBefore { theirs.refresh() }
    try theirs.commitNow()
    #expect(theirs.unsaved == [])
    #expect(try theirs.stat("Emma/Visits").modified == committed)
  }

  @Test func aFolderThatIsRemovedElsewhereMeanwhileIsGone() throws {
    let other = try mounted.mountOnAnotherDevice()
    try tree.mkdir("Emma/Visits/a")
    try commit()
    other.refresh()
    try other.rmdir("Emma/Visits/a")
    try other.rmdir("Emma/Visits")
    try other.commitNow()
    tree.refresh()
    #expect(try tree.list("Emma") == [])
    try tree.commitNow()
    #expect(try tree.list("Emma") == [])
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// For whoever holds the folder all four are some objects of the same sizes and a head.
  @Test func anEditANewNameADeletionAndANewRecordLookAlike() throws {
    let note = String(repeating: "The knee is better. ", count: 40)
    let made = try objectsOf {
      try tree.mkdir("Emma/Visits/b")
      try tree.write("Emma/Visits/b/record.md", note)
    }
    let edited = try objectsOf { try tree.write("Emma/Visits/b/record.md", note + ".") }
    let renamed = try objectsOf { try tree.rename("Emma/Visits/b", "Emma/Visits/c") }
    let deleted = try objectsOf {
      try tree.unlink("Emma/Visits/c/record.md")
      try tree.rmdir("Emma/Visits/c")
    }
    #expect(made.count == 2 && made.contains { $0 > 1000 })
    for sizes in [edited, renamed, deleted] { #expect(sizes.count == 2) }
    // The other one is a segment, whose size depends on how many changes it takes together.
    // It names the revision before, which a new one has not.
    let difference = try #require(edited.max()) - #require(made.max())
    #expect((0...64).contains(difference))
    #expect(renamed.max() == edited.max())
    #expect(deleted.max() == renamed.max())
  }

  /// The sizes of what a commit of these changes puts into the vault's folder, sorted.
  private func objectsOf(_ changes: () throws -> Void) throws -> [Int] {
    let before = try objects()
    try changes()
    try commit()
    return try objects().filter { before[$0.key] == nil }.values.sorted()
  }

  private func objects() throws -> [String: Int] {
    let store = try DirectoryStore(opening: mounted.folder)
    var found: [String: Int] = [:]
    var waiting = try store.list("members").map { "members/\($0.name)/objects" }
    while let folder = waiting.popLast() {
      for entry in try store.list(BlobPath(folder)) {
        let path = "\(folder)/\(entry.name)"
        if entry.isFolder { waiting.append(path) } else { found[path] = Int(entry.size) }
      }
    }
    return found
  }
}
