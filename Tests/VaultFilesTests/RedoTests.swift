import Glibc
import Testing
import Vault
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// What a file tree promises when `sync` returns, though it commits later.
@Suite struct RedoTests {
  private func save(_ path: String, _ text: String, in tree: FileTree) throws {
    let inode: FileHandle
    do {
      inode = try tree.open(tree.find(path), [.write, .truncate])
    } catch FileError.notFound {
      let parts = path.split(separator: "/")
      inode = try tree.create(
        tree.find(parts.dropLast().joined(separator: "/")), tree.name(parts[parts.count - 1]),
        mode: 0o600, flags: [.write]
      ).handle
    }
    try Array(text.utf8).withUnsafeBytes { try inode.write(at: 0, $0) }
    try inode.sync()
    inode.release()
  }

  private func text(_ path: String, in tree: FileTree) throws -> String? {
    do {
      let handle = try tree.open(tree.find(path), [.read])
      defer { handle.release() }
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = try bytes.withUnsafeMutableBytes { try handle.read(at: 0, into: $0) }
      return String(decoding: bytes.prefix(count), as: UTF8.self)
    } catch FileError.notFound {
      return nil
    }
  }

  /// The tree of a vault with a member, of which nothing is committed by itself.
  private func mountedVault() throws -> MountedVault {
    let mounted = try MountedVault { $0.commitDelay = .seconds(3600) }
    _ = try mounted.tree.makeDirectory(
      FileTree.root, mounted.tree.name("Emma"), mode: 0o700)
    return mounted
  }

  @Test func whatWasSyncedSurvivesACrash() throws {
    let mounted = try mountedVault()
    let emma = try mounted.tree.find("Emma")
    _ = try mounted.tree.makeDirectory(emma, mounted.tree.name("Visits"), mode: 0o700)
    try save("Emma/Visits/a", "one", in: mounted.tree)
    try save("Emma/Visits/a", "two", in: mounted.tree)
    try save("Emma/Visits/.b.tmp", "three", in: mounted.tree)
    let visits = try mounted.tree.find("Emma/Visits")
    try mounted.tree.rename(
      visits, mounted.tree.name(".b.tmp"), to: visits, mounted.tree.name("b"), mode: .replace)
    try mounted.tree.syncDirectory(visits)
    try mounted.crash()
    #expect(try text("Emma/Visits/a", in: mounted.tree) == "two")
    #expect(try text("Emma/Visits/b", in: mounted.tree) == "three")
    #expect(try text("Emma/Visits/.b.tmp", in: mounted.tree) == nil)
    #expect(try mounted.vault.check(readsData: true).problems == [])
  }

  /// Whoever saves to a new name and renames it makes a name that is gone a moment later, many times between two commits.
  @Test func whatIsLoggedDoesNotGrowWithNamesThatAreGone() throws {
    let mounted = try mountedVault()
    let emma = try mounted.tree.find("Emma")
    for number in 0..<20 {
      let name = ".note.\(number)"
      try save("Emma/\(name)", "\(number)", in: mounted.tree)
      try mounted.tree.rename(
        emma, mounted.tree.name(name), to: emma, mounted.tree.name("note"), mode: .replace)
    }
    let pending = mounted.tree.withTree { tree in
      tree.views.values.flatMap { $0.pending.values.map { [$0.items.count, $0.seen.count] } }
    }
    #expect(pending == [[1, 1]])
  }

  @Test func whatWasRemovedAfterASyncStaysRemovedOnceCommitted() throws {
    let mounted = try mountedVault()
    let emma = try mounted.tree.find("Emma")
    try save("Emma/draft", "one", in: mounted.tree)
    try mounted.tree.unlink(emma, mounted.tree.name("draft"))
    try mounted.tree.commitNow()
    try mounted.crash()
    #expect(try text("Emma/draft", in: mounted.tree) == nil)
  }

  @Test func theRemovalOfAFileIsSyncedWithItsFolder() throws {
    let mounted = try mountedVault()
    let emma = try mounted.tree.find("Emma")
    try save("Emma/draft", "one", in: mounted.tree)
    try mounted.tree.unlink(emma, mounted.tree.name("draft"))
    try mounted.tree.syncDirectory(emma)
    try mounted.crash()
    #expect(try text("Emma/draft", in: mounted.tree) == nil)
  }

  /// One that others have given the file since, and at which nobody here has looked.
  @Test func whatWasSyncedReachesANameThatItsAuthorHadNotSeen() throws {
    let mounted = try mountedVault()
    for folder in ["Emma/a", "Emma/b"] { try mounted.tree.mkdir(folder) }
    try mounted.tree.write("Emma/a/file", "one")
    try mounted.tree.link("Emma/a/file", "Emma/b/file")
    try mounted.tree.commitNow()
    try mounted.tree.write("Emma/a/file", "two")
    try mounted.command { command in
      try command.mkdir("Emma/c")
      try command.link("Emma/a/file", "Emma/c/file")
    }
    mounted.tree.refresh()
    try save("Emma/a/other", "three", in: mounted.tree)
    try mounted.crash()
    for folder in ["a", "b", "c"] {
      #expect(try text("Emma/\(folder)/file", in: mounted.tree) == "two", "\(folder)")
    }
  }

  @Test func anotherMountBringsInWhatACrashLeft() throws {
    let mounted = try mountedVault()
    try mounted.tree.commitNow()
    let other = try mounted.openAgain()
    let tree = FileTree.load(vault: other, options: mounted.options)
    try save("Emma/a", "one", in: mounted.tree)
    #expect(try text("Emma/a", in: tree) == nil)
    try other.redoWhatCrashesLeft()
    #expect(try text("Emma/a", in: tree) == nil, "its process lives")
    try mounted.crash(opensAgain: false)
    try other.redoWhatCrashesLeft()
    tree.refresh()
    #expect(try text("Emma/a", in: tree) == "one")
  }

  /// Neither a copy that is opened first nor one that is opened after takes it for its own.
  @Test func aCopyOfTheFolderIsLeftAlone() throws {
    let mounted = try mountedVault()
    try mounted.tree.commitNow()
    try save("Emma/a", "one", in: mounted.tree)
    try mounted.crash(opensAgain: false)
    let copy = FilePath("\(mounted.folder)-copy")
    #expect(system("cp -r '\(mounted.folder)' '\(copy)'") == 0)
    let opened = try mounted.openAgain(in: copy)
    #expect(try text("Emma/a", in: FileTree.load(vault: opened, options: mounted.options)) == nil)
    #expect(opened.problems.contains { $0.kind == .unfinished }, "and is told so")
    try opened.close()
    try mounted.openAfterCrash()
    #expect(try text("Emma/a", in: mounted.tree) == "one")
  }
}
