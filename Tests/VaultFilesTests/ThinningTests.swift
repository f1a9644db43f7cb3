import Glibc
import TestSupport
import Testing
import Vault
import VaultErrors
import VaultModel

@testable import VaultFiles

/// What a mount removes of itself.
@Suite struct ThinningTests {
  private let mounted: MountedVault
  // On the minute.
  private let now = TurnedClock(1_800_000_000_000)
  private var tree: FileTree { mounted.tree }

  init() throws {
    mounted = try MountedVault(clock: now.wallClock) { options in
      options.thinning = Thinning(.standard) { _ in SeenElsewhere(counter: 0) }
    }
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/Base")
  }

  private func bytes(_ number: Int, count: Int = 2 << 20) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  private func objectBytes() throws -> UInt64 {
    let check = try mounted.vault.check(readsData: true)
    #expect(check.problems.filter { $0.severity > .note } == [])
    return check.objectByteCount + check.unusedByteCount
  }

  /// Thins until no more than this is there. Once may not do: the mount thins by itself, too, and while it does others
  /// leave it alone.
  private func thin(to byteCount: UInt64) throws {
    let deadline = ContinuousClock.now + .seconds(240)
    repeat {
      try tree.thin()
      if try objectBytes() < byteCount { return }
      usleep(200_000)
    } while ContinuousClock.now < deadline
    #expect(try objectBytes() < byteCount)
  }

  @Test func savingAgainAndAgainTakesNoRoom() throws {
    try tree.write("Emma/Base/file", bytes(0))
    for number in 1...30 {
      let handle = try tree.open("Emma/Base/file")
      // A row somewhere in it.
      try handle.put(bytes(number, count: 100), at: UInt64(number) * 5000)
      try handle.sync()
      handle.release()
      now.advance(to: 1_800_000_000_000 + UInt64(number) * 3_500)
      try tree.commitNow()
    }
    let content = try tree.read("Emma/Base/file")
    let before = try objectBytes()
    #expect(before > 30 << 20)
    // Of two minutes the last one each.
    try thin(to: 8 << 20)
    #expect(try tree.read("Emma/Base/file") == content)
    try mounted.remount()
    #expect(try tree.read("Emma/Base/file") == content)
  }

  @Test func whatIsOpenAndRemovedStaysReadable() throws {
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    let handle = try tree.open("Emma/Base/file", [.read])
    try tree.unlink("Emma/Base/file")
    try tree.write("Emma/Base/other", bytes(2))
    try tree.commitNow()
    try tree.thin()
    #expect(try handle.get(at: 1 << 20, count: 10) == bytes(1, count: 10))
    handle.release()
    try thin(to: 12 << 20)
  }

  /// Its former name has another content by now, and no commit has the new one.
  @Test func whatIsMovedAndNotCommittedStaysReadable() throws {
    try tree.mkdir("Emma/Other")
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    try tree.rename("Emma/Base/file", "Emma/Other/file")
    try mounted.command { try $0.write("Emma/Base/file", bytes(2)) }
    try tree.thin()
    #expect(try tree.read("Emma/Other/file") == bytes(1))
    try tree.commitNow()
    try mounted.remount()
    #expect(try tree.list("Emma/Other") == ["file"])
  }

  /// What is wrong with one member keeps no other from it, whichever comes first.
  @Test(arguments: [0, 1]) func whatFailsOfOneMemberConcernsNoOther(_ broken: Int) throws {
    try tree.mkdir("Liam")
    try tree.mkdir("Liam/Base")
    for number in 1...5 {
      for name in ["Emma", "Liam"] { try tree.write("\(name)/Base/file", bytes(number)) }
      try tree.commitNow()
    }
    let members = mounted.vault.members.sorted { $0.id < $1.id }
    #expect(members.count == 2)
    let folders = members.map { "\(mounted.folder)/members/\($0.id.hex)" }
    let before = try folders.map(fileCount)
    // A file where the folder of its heads should be.
    let heads = folders[broken] + "/heads"
    #expect(rename(heads, heads + ".aside") == 0)
    let file = open(heads, O_CREAT | O_WRONLY | O_EXCL, 0o600)
    #expect(file >= 0 && close(file) == 0)
    var hasFailed = false
    try wait {
      do throws(FileError) { try tree.thin() } catch { hasFailed = true }
      return try hasFailed && fileCount(folders[1 - broken]) < before[1 - broken]
    }
    #expect(unlink(heads) == 0 && rename(heads + ".aside", heads) == 0)
    try wait {
      try tree.thin()
      return try fileCount(folders[broken]) < before[broken]
    }
  }

  /// Once may not do, as in `thin(to:)`.
  private func wait(_ isDone: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(240)
    while try !isDone() {
      try #require(ContinuousClock.now < deadline, "it does not come about")
      usleep(200_000)
    }
  }

  private func fileCount(_ folder: String) throws -> Int {
    let found = try CommandRunner.run(
      "find", [folder + "/objects", "-type", "f", "-size", "+1000"])
    return found.output.split(separator: "\n").count
  }

  /// Somebody else in the same folder may name an object that is there, at any moment.
  @Test func noObjectGoesThatAnotherPersonInTheFolderMayName() throws {
    try tree.commitNow()
    let other = try mounted.joinAsAnotherPerson(clock: now.wallClock)
    let emma = try #require(mounted.vault.members.first)
    try mounted.vault.share(emma, with: other.person, role: .editor)
    _ = try other.refreshMembers()
    let there = FileTree.load(vault: other, options: FileTreeOptions(uid: 1000, gid: 1000))
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    there.refresh()
    // What is attached is the object that is there.
    try there.write("Emma/Base/same", bytes(1))
    try tree.write("Emma/Base/file", bytes(2))
    try tree.commitNow()
    let folder = "\(mounted.folder)/members/\(emma.id.hex)"
    let before = try fileCount(folder)
    for _ in 0..<3 { try tree.thin() }
    #expect(try fileCount(folder) == before)
    try there.commitNow()
    let problems = try mounted.openAgain(readOnly: true).check(readsData: true).problems
    #expect(problems.filter { $0.severity > .note } == [])
    tree.refresh()
    #expect(try tree.read("Emma/Base/same") == bytes(1))
  }

  @Test func nothingGoesWhileAnotherProcessReads() throws {
    try tree.write("Emma/Base/file", bytes(1))
    try tree.commitNow()
    let reader = try mounted.openAgain(readOnly: true)
    for number in 2...5 {
      try tree.write("Emma/Base/file", bytes(number))
      try tree.commitNow()
    }
    try tree.thin()
    let problems = try reader.check(readsData: true).problems
    #expect(problems.filter { $0.severity > .note } == [])
    #expect(try objectBytes() > 4 << 20)
    withExtendedLifetime(reader) {}
  }
}
