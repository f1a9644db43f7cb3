import Glibc
import Testing
import Threads
import Vault
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// What cannot be made part of the vault is told to those whom it concerns, and keeps nothing else from being saved.
@Suite struct UnsavedTests {
  private let large = [UInt8](repeating: 3, count: 200_000)

  /// A vault in which one file has lost its content before any commit.
  private func vaultWithALostFile() throws -> MountedVault {
    let mounted = try MountedVault { $0.commitDelay = .seconds(3600) }
    let tree = mounted.tree
    for folder in ["Emma", "Emma/Visits"] { try tree.mkdir(folder) }
    try tree.write("Emma/lost", large)
    let staging = mounted.folder.appending("staging")
    #expect(system("find '\(staging)' -type f -size +100k -delete") == 0)
    try tree.write("Emma/beside", "saved")
    try tree.write("Emma/Visits/elsewhere", "saved")
    return mounted
  }

  /// A vault with one file, which is committed.
  private func vaultWithAScan(commitDelay: Duration) throws -> MountedVault {
    let mounted = try MountedVault { $0.commitDelay = commitDelay }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/scan", "before")
    try tree.commitNow()
    return mounted
  }

  /// Nothing large can be written: a file stands where its folder should be.
  private func blockStaging(of mounted: MountedVault) {
    let staging = mounted.folder.appending("staging")
    #expect(system("mv '\(staging)' '\(staging) away' && touch '\(staging)'") == 0)
  }

  private func freeStaging(of mounted: MountedVault) {
    let staging = mounted.folder.appending("staging")
    #expect(system("rm '\(staging)' && mv '\(staging) away' '\(staging)'") == 0)
  }

  /// Nothing waits to be saved, and what was saved last is nowhere but in this mount.
  @Test(arguments: [false, true])
  func anOlderFolderInThePlaceOfTheVaultIsNoEnd(isAnotherFolder: Bool) throws {
    let mounted = try vaultWithAScan(commitDelay: .seconds(3600))
    let (tree, folder) = (mounted.tree, mounted.folder.string)
    #expect(system("cp -a '\(folder)' '\(folder) before'") == 0)
    try tree.write("Emma/scan", "after")
    try tree.syncDirectory(FileTree.root)
    let gone = isAnotherFolder ? "rm -rf '\(folder)'" : "rm -rf '\(folder)'/*"
    let back = "mkdir -p '\(folder)' && cp -a '\(folder) before/.' '\(folder)/'"
    #expect(system("\(gone) && \(back)") == 0)
    for _ in 0..<2 {
      #expect(throws: FileError.inputOutput) { try tree.syncDirectory(FileTree.root) }
      #expect(throws: FileError.inputOutput) { try tree.commitForCommand() }
    }
  }

  @Test func oneLostFileKeepsNoOtherFromBeingCommitted() throws {
    let mounted = try vaultWithALostFile()
    let tree = mounted.tree
    #expect(throws: FileError.inputOutput) { try tree.commitNow() }
    for round in 0..<2 {
      let fresh = try mounted.mountAgain(readOnly: true)
      #expect(try fresh.list("Emma") == ["Visits", "beside"])
      #expect(try fresh.text("Emma/beside") == "saved")
      #expect(try fresh.text("Emma/Visits/elsewhere") == (round == 0 ? "saved" : "later"))
      try tree.write("Emma/Visits/elsewhere", "later")
      let handle = try tree.open("Emma/Visits/elsewhere")
      try handle.sync()
      handle.release()
      try tree.syncDirectory(tree.find("Emma/Visits"))
    }
  }

  @Test func theLostFileAndItsFolderSaySo() throws {
    let mounted = try vaultWithALostFile()
    let tree = mounted.tree
    let handle = try tree.open("Emma/lost")
    let beside = try tree.open("Emma/beside")
    #expect(throws: FileError.inputOutput) { try handle.sync() }
    #expect(throws: FileError.inputOutput) { try handle.sync() }
    #expect(throws: FileError.inputOutput) { try tree.syncDirectory(tree.find("Emma")) }
    #expect(throws: FileError.inputOutput) { try tree.syncDirectory(FileTree.root) }
    try beside.put([1], at: 0)
    try beside.sync()
    handle.release()
    beside.release()
    let name = try tree.name("lost")
    #expect(tree.unsaved.map(\.extent) == [.file(.root, name)])
    #expect(tree.unsaved.map(\.error) == [.inputOutput])
    try mounted.vault.audit.flush()
    let events = try mounted.vault.audit.read().events.map(\.event)
    #expect(events.filter { $0.action == "unsaved" }.map(\.name) == [name])
    #expect(!events.contains { $0.action == "damage" })
  }

  /// Who comes while a commit is under way shares the next one with all others who come meanwhile.
  @Test func whoeverSyncsALostFileAtOnceIsTold() throws {
    let mounted = try vaultWithALostFile()
    let handle = try mounted.tree.open("Emma/lost")
    let told = Told()
    let workers = handle.member.saving.writing.withLock { _ in
      let workers = (0..<3).map { _ in
        Worker {
          do { try handle.sync() } catch { told.add(1) }
        }
      }
      usleep(200_000)
      return workers
    }
    for worker in workers { worker.join() }
    handle.release()
    #expect(told.counts == [1, 1, 1])
  }

  @Test func theNextWriteIsToldOnceAndANewContentIsSaved() throws {
    let mounted = try vaultWithALostFile()
    let tree = mounted.tree
    let handle = try tree.open("Emma/lost")
    #expect(throws: FileError.inputOutput) { try tree.commitNow() }
    #expect(throws: FileError.inputOutput) { try handle.put(large, at: 0) }
    #expect(throws: Never.self) { try handle.truncate(to: 0) }
    #expect(throws: Never.self) { try handle.put(large, at: 0) }
    #expect(throws: Never.self) { try handle.sync() }
    handle.release()
    #expect(throws: Never.self) { try tree.commitNow() }
    #expect(tree.unsaved.isEmpty)
    try mounted.remount(committing: false)
    #expect(try mounted.tree.read("Emma/lost") == large)
  }

  /// The kernel writes it when it pleases: who changed the mapping may be gone, and would not hear.
  @Test func aPageOfAMappingIsTakenWhateverFailedBefore() throws {
    let mounted = try vaultWithALostFile()
    let tree = mounted.tree
    let handle = try tree.open("Emma/lost")
    #expect(throws: FileError.inputOutput) { try tree.commitNow() }
    try handle.truncate(to: 0)
    try handle.put(large, at: 0, as: .ofMapping)
    #expect(throws: FileError.inputOutput) { try handle.flush() }
    handle.release()
    try tree.commitNow()
    #expect(tree.unsaved.isEmpty)
    #expect(try tree.read("Emma/lost") == large)
  }

  @Test func whoeverListensIsToldWhenItBeginsAndWhenItIsOver() throws {
    let mounted = try vaultWithALostFile()
    let told = Told()
    mounted.tree.setUnsavedHandler { told.add($0.count) }
    #expect(throws: FileError.inputOutput) { try mounted.tree.commitNow() }
    #expect(throws: FileError.inputOutput) { try mounted.tree.commitNow() }
    try mounted.tree.unlink("Emma/lost")
    try mounted.tree.commitNow()
    #expect(told.counts == [1, 0])
  }

  /// Two programs that end at once: each of their handles goes while the other one is there.
  @Test func whatIsWrittenStaysWhereTheLastHandlesGoAtOnce() throws {
    let mounted = try MountedVault { $0.commitDelay = .seconds(3600) }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/scan", "before")
    let handles = [try tree.open("Emma/scan"), try tree.open("Emma/scan")]
    try handles[0].put(Array("pages of a mapping".utf8), at: 0)
    let workers = handles[0].draft.content.withLock { _ in
      let workers = handles.map { handle in Worker { handle.release() } }
      usleep(200_000)
      return workers
    }
    for worker in workers { worker.join() }
    #expect(try tree.text("Emma/scan") == "pages of a mapping")
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/scan") == "pages of a mapping")
  }

  /// As pages of a mapping, which come when the descriptor was closed: nobody is there who could be told.
  @Test func whatComesAfterTheLastFlushIsKeptUntilItCanBeSaved() throws {
    let mounted = try vaultWithAScan(commitDelay: .seconds(3600))
    let tree = mounted.tree
    let handle = try tree.open("Emma/scan")
    try handle.put(large, at: 0)
    try handle.flush()
    try handle.put([UInt8](repeating: 4, count: 200_000), at: 0)
    blockStaging(of: mounted)
    handle.release()
    let scan = Unsaved.Extent.file(.root, try tree.name("scan"))
    #expect(tree.unsaved.map(\.extent) == [scan])
    // Who reads meanwhile changes nothing of that, and may be told too.
    let reader = try tree.open("Emma/scan", .read)
    #expect(try reader.get(at: 0, count: 200_000) == [UInt8](repeating: 4, count: 200_000))
    #expect(throws: FileError.self) { try reader.flush() }
    reader.release()
    #expect(throws: FileError.self) { try tree.commitNow() }
    #expect(tree.unsaved.map(\.extent) == [scan])
    try mounted.vault.audit.flush()
    let events = try mounted.vault.audit.read().events.map(\.event)
    #expect(events.filter { $0.action == "unsaved" }.map(\.name) == [try tree.name("scan")])
    freeStaging(of: mounted)
    #expect(throws: Never.self) { try tree.commitNow() }
    #expect(tree.unsaved.isEmpty)
    try mounted.remount()
    #expect(try mounted.tree.read("Emma/scan") == [UInt8](repeating: 4, count: 200_000))
  }

  /// Whoever was told that it cannot be saved goes on from what was saved last, as after a failed close. The kernel has what was
  /// written, and would show it.
  @Test func whatAWriterWasToldOfIsNotKept() throws {
    let mounted = try vaultWithAScan(commitDelay: .seconds(3600))
    let tree = mounted.tree
    let handle = try tree.open("Emma/scan")
    try handle.put(large, at: 0)
    blockStaging(of: mounted)
    #expect(throws: FileError.self) { try handle.flush() }
    let seen = Guarded<[Invalidation]>([])
    tree.setInvalidationHandler { one in seen.withLock { $0.append(one) } }
    handle.release()
    let invalidations = seen.withLock { $0 }
    #expect(invalidations == [.content(handle.inode)])
    #expect(tree.unsaved.isEmpty)
    freeStaging(of: mounted)
    #expect(try tree.text("Emma/scan") == "before")
    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    try tree.commitNow()
  }

  /// Others have changed the file while it was written.
  @Test func whatAWriterWasToldOfHidesNothing() throws {
    let mounted = try vaultWithAScan(commitDelay: .milliseconds(10))
    let tree = mounted.tree
    tree.start()
    let handle = try tree.open("Emma/scan")
    try handle.put(large, at: 0)
    try mounted.command { try $0.write("Emma/scan", "theirs") }
    tree.refresh()
    // Every commit that was due is over.
    usleep(500_000)
    blockStaging(of: mounted)
    #expect(throws: FileError.self) { try handle.flush() }
    handle.release()
    freeStaging(of: mounted)
    let deadline = ContinuousClock.now + .seconds(120)
    while try tree.text("Emma/scan") != "theirs", ContinuousClock.now < deadline { usleep(50_000) }
    #expect(try tree.text("Emma/scan") == "theirs")
    try tree.stop()
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// The person may not write the member any more: nothing of it can be saved.
  @Test func aMemberThatCannotBeSavedSaysSoToWhoeverMakesOrWritesSomething() throws {
    let mounted = try MountedVault { $0.commitDelay = .seconds(3600) }
    let tree = mounted.tree
    for folder in ["Emma", "Liam"] { try tree.mkdir(folder) }
    try tree.write("Emma/file", "one")
    try tree.commitNow()
    try tree.write("Emma/file", "two")
    let handle = try tree.open("Emma/file")
    // The folder of the member is not to be found for a while.
    let emma = try #require(mounted.vault.members.first { $0.name.string == "Emma" })
    let folder = mounted.folder.appending("members").appending(emma.id.hex)
    let away = FilePath("\(folder) away")
    #expect(rename(folder.string, away.string) == 0)
    #expect(system("touch '\(folder)'") == 0)
    #expect(throws: FileError.self) { try tree.commitNow() }
    #expect(tree.unsaved.map(\.extent) == [.member])
    #expect(throws: FileError.self) { try tree.mkdir("Emma/new") }
    #expect(throws: FileError.self) { try tree.write("Emma/new", "x") }
    #expect(throws: FileError.self) { try handle.put([1], at: 0) }
    #expect(throws: FileError.self) { try handle.sync() }
    #expect(throws: FileError.self) { try handle.flush() }
    #expect(throws: Never.self) { try tree.write("Liam/file", "saved") }
    #expect(throws: FileError.self) { try tree.commitNow() }
    #expect(unlink(folder.string) == 0)
    #expect(rename(away.string, folder.string) == 0)
    #expect(throws: Never.self) { try tree.commitNow() }
    #expect(tree.unsaved.isEmpty)
    try handle.put(Array("three".utf8), at: 0)
    handle.release()
    try tree.mkdir("Emma/new")
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/file") == "three")
    #expect(try mounted.tree.text("Liam/file") == "saved")
    #expect(try mounted.tree.list("Emma") == ["file", "new"])
  }

  /// As who removes a copy for which there was no room, and makes some.
  @Test func whoRemovesWhatCannotBeSavedGoesOn() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.commitNow()
    let emma = try #require(tree.members.first)
    let folder = mounted.folder.appending("members").appending(emma.member.id.hex)
    let away = FilePath("\(folder) away")
    try tree.mkdir("Emma/copy")
    #expect(rename(folder.string, away.string) == 0)
    #expect(system("touch '\(folder)'") == 0)
    #expect(throws: FileError.self) { try tree.commit(emma) }
    #expect(throws: FileError.self) { try tree.mkdir("Emma/other") }
    try tree.rmdir("Emma/copy")
    #expect(unlink(folder.string) == 0)
    #expect(rename(away.string, folder.string) == 0)
    tree.start()
    for _ in 0..<2400 where !tree.unsaved.isEmpty { usleep(50_000) }
    #expect(throws: Never.self) { try tree.mkdir("Emma/other") }
    try tree.stop()
    #expect(try tree.list("Emma") == ["other"])
  }

  private final class Told: Sendable {
    private let all = Guarded<[Int]>([])

    func add(_ count: Int) { all.withLock { $0.append(count) } }
    var counts: [Int] { all.withLock { $0 } }
  }
}
