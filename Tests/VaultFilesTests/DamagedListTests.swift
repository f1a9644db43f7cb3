import BlobStore
import Glibc
import Testing
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// A page of a large directory's list of files is missing or damaged.
@Suite struct DamagedListTests {
  private let mounted: MountedVault
  private let store: DirectoryStore
  private static let names = (0..<200).map { "slice \($0).dcm" }

  init() throws {
    mounted = try MountedVault()
    store = try DirectoryStore(opening: mounted.folder)
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/disc")
    for name in Self.names { try mounted.tree.write("Emma/disc/\(name)", Array(name.utf8)) }
    try mounted.tree.commitNow()
  }

  /// The pages below the one at the root, which has no items itself.
  private func leaves() throws -> [BlobPath] {
    let emma = try #require(mounted.vault.members.first)
    let entry = try #require(emma.allEntries().first { $0.title.string == "disc" })
    var paths: [BlobPath] = []
    let revision = try emma.revision(entry.revision)
    try revision.items.visit(
      load: emma.loadPage,
      page: {
        paths.append(BlobPath(emma.objects.vaultPath(of: $0).string))
        return true
      }, item: { _ in })
    return Array(paths.dropFirst())
  }

  /// What a listing gives before its end, and how it ends.
  private func list() throws -> (names: Set<String>, end: FileError?) {
    let directory = try mounted.tree.openDirectory(mounted.tree.find("Emma/disc"))
    defer { directory.release() }
    var names: Set<String> = []
    var cookie: UInt64 = 0
    while true {
      var count = 0
      do throws(FileError) {
        try directory.readWithAttributes(from: cookie) { entry, attributes in
          names.insert(String(decoding: entry.name, as: UTF8.self))
          cookie = entry.nextCookie
          count += 1
          return count < 50
        }
      } catch {
        return (names.subtracting([".", ".."]), error)
      }
      if count == 0 { return (names.subtracting([".", ".."]), nil) }
    }
  }

  @Test(arguments: [false, true])
  func theOtherFilesAreThereAndNothingCanBeChanged(isMissing: Bool) throws {
    let tree = { mounted.tree }
    let leaves = try leaves()
    try #require(leaves.count > 8)
    let page = leaves[3]
    let good = try store.read(page, limit: 1 << 20)
    if isMissing {
      try store.remove(page)
    } else {
      var bad = good
      bad[bad.count / 2] ^= 1
      try store.replace(page, bad, durably: true)
    }
    try mounted.remount()

    let (listed, end) = try list()
    #expect(end == .inputOutput)
    #expect(listed.count < 200 && listed.count > 150)
    for name in Self.names {
      let path = "Emma/disc/\(name)"
      if listed.contains(name) {
        #expect(try tree().read(path) == Array(name.utf8))
      } else {
        #expect(throws: FileError.inputOutput) { try tree().stat(path) }
      }
    }
    // What never was there is known not to be only where the list can be read.
    let others = try (0..<200).map { number -> FileError? in
      do throws(FileError) { _ = try tree().stat("Emma/disc/other \(number)") } catch {
        return error
      }
      throw FileError.alreadyExists
    }
    #expect(Set(others) == [.inputOutput, .notFound])

    let known = try #require(listed.first)
    let changes: [() throws -> Void] = [
      { try tree().write("Emma/disc/new", [1]) },
      { try tree().write("Emma/disc/\(known)", [1]) },
      { try tree().open("Emma/disc/\(known)", [.write]).release() },
      { try tree().unlink("Emma/disc/\(known)") },
      { try tree().rename("Emma/disc/\(known)", "Emma/away") },
      { try tree().rmdir("Emma/disc") },
    ]
    for change in changes { #expect(throws: FileError.inputOutput) { try change() } }
    // Beside it everything goes on, and it can be moved as it is.
    try tree().write("Emma/beside", [1])
    try tree().rename("Emma/disc", "Emma/damaged")
    try tree().rename("Emma/damaged", "Emma/disc")
    try tree().commitNow()
    #expect(try list().names == listed)

    try store.replace(page, good, durably: true)
    for _ in 0..<1200 where try list().end != nil { usleep(100_000) }
    #expect(try list().end == nil)
    #expect(try list().names == Set(Self.names))
    for name in Self.names { #expect(try tree().read("Emma/disc/\(name)") == Array(name.utf8)) }
    try tree().write("Emma/disc/new", [1])
    try tree().unlink("Emma/disc/\(known)")
    try mounted.remount()
    #expect(try list().names == Set(Self.names).subtracting([known]).union(["new"]))
    #expect(try mounted.vault.check(readsData: true).problems.isEmpty)
  }

  /// The other name of the file is saved meanwhile.
  @Test func aChangeReachesANameWhoseFolderIsMendedLater() throws {
    let path = "Emma/disc/\(Self.names[0])"
    try mounted.tree.link(path, "Emma/beside")
    try mounted.remount()
    let tree = mounted.tree
    #expect(try tree.stat(path).linkCount == 2)
    let leaves = try leaves().map { ($0, try store.read($0, limit: 1 << 20)) }
    for (page, _) in leaves { try store.remove(page) }
    try tree.write("Emma/beside", "later")
    #expect(throws: FileError.inputOutput) { try tree.commitNow() }
    for (page, good) in leaves { try store.replace(page, good, durably: true) }
    try tree.commitNow()
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/beside") == "later")
    #expect(try mounted.tree.text(path) == "later")
  }
}
