import Synchronization
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// Directories that are forgotten to save memory, while the kernel remembers them.
@Suite struct EvictionTests {
  private final class Seen: Sendable {
    let invalidations = Mutex<Set<Invalidation>>([])
  }

  /// A tree that keeps few files in memory and has forgotten the folder `Emma/one`, of which the kernel still knows all.
  private struct Forgetful {
    let mounted: MountedVault
    let other: FileTree
    var tree: FileTree { mounted.tree }
    private let seen = Seen()

    init() throws {
      mounted = try MountedVault { $0.loadedItemLimit = 8 }
      let tree = mounted.tree
      for folder in ["Emma", "Emma/one", "Emma/one/sub", "Emma/two"] { try tree.mkdir(folder) }
      for name in ["kept", "changed", "gone"] { try tree.write("Emma/one/\(name)", name) }
      try tree.commitNow()
      for name in ["a", "b", "c", "d"] { try tree.write("Emma/two/\(name)", name) }
      try tree.commitNow()
      other = try mounted.mountOnAnotherDevice()
      try #require(!isLoaded)
      tree.setInvalidationHandler { [seen] invalidation in
        seen.invalidations.withLock { _ = $0.insert(invalidation) }
      }
    }

    var isLoaded: Bool {
      tree.withTree { tree in
        tree.nodes.values.contains {
          guard let directory = $0 as? DirectoryNode else { return false }
          return directory.title == FileName("one")! && directory.files != nil
        }
      }
    }

    /// What the kernel is told to forget when the tree catches up with what the other device committed.
    func invalidations() throws -> Set<Invalidation> {
      try other.commitNow()
      tree.refresh()
      return seen.invalidations.withLock { $0 }
    }
  }

  @Test func theKernelHearsOfChangesInThem() throws {
    let forgetful = try Forgetful()
    let tree = forgetful.tree
    let one = try tree.find("Emma/one")
    // Looking these up here would load the folder.
    try forgetful.other.write("Emma/one/changed", "changed elsewhere")
    try forgetful.other.unlink("Emma/one/gone")
    try forgetful.other.write("Emma/one/new", "new")
    try forgetful.other.rename("Emma/one/sub", "Emma/one/moved")
    let invalidations = try forgetful.invalidations()
    for name in ["gone", "new", "sub", "moved"] {
      #expect(
        invalidations.contains(.entry(parent: one, name: FileName(name)!)), "\(name)")
    }
    #expect(!invalidations.contains(.entry(parent: one, name: FileName("kept")!)))
    #expect(invalidations.contains(.content(try tree.find("Emma/one/changed"))))
    #expect(!invalidations.contains(.content(try tree.find("Emma/one/kept"))))
    #expect(try tree.text("Emma/one/changed") == "changed elsewhere")
    #expect(try tree.list("Emma/one").sorted() == ["changed", "kept", "moved", "new"])
  }

  @Test func theKernelHearsOfChangesInThoseReadAgain() throws {
    let forgetful = try Forgetful()
    let tree = forgetful.tree
    let gone = try tree.find("Emma/one/gone")
    try #require(forgetful.isLoaded)
    try forgetful.other.unlink("Emma/one/gone")
    let invalidations = try forgetful.invalidations()
    #expect(
      invalidations.contains(
        .entry(parent: try tree.find("Emma/one"), name: FileName("gone")!)))
    #expect(try tree.attributes(gone).linkCount == 0)
  }

  /// They are read again when the vault has the changes, and before the tree shows them as news.
  @Test func theKernelHearsOfChangesInThoseReadAgainAsTheyAre() throws {
    let forgetful = try Forgetful()
    let tree = forgetful.tree
    try forgetful.other.write("Emma/one/changed", "changed elsewhere")
    try forgetful.other.commitNow()
    for member in forgetful.mounted.vault.members { _ = try member.refresh() }
    try #require(!forgetful.isLoaded)
    let (changed, kept) = (try tree.find("Emma/one/changed"), try tree.find("Emma/one/kept"))
    try #require(forgetful.isLoaded)
    let invalidations = try forgetful.invalidations()
    #expect(invalidations.contains(.content(changed)))
    #expect(!invalidations.contains(.content(kept)))
    #expect(try tree.text("Emma/one/changed") == "changed elsewhere")
  }

  /// It knows a record in a folder of whose files nothing was ever read.
  @Test func theKernelHearsOfARenameThatComesAfterOtherChanges() throws {
    let mounted = try MountedVault()
    for path in ["Emma", "Emma/visit"] { try mounted.tree.mkdir(path) }
    try mounted.remount()
    let tree = mounted.tree
    let emma = try tree.find("Emma")
    _ = try tree.find("Emma/visit")
    let other = try mounted.mountOnAnotherDevice()
    let seen = Seen()
    tree.setInvalidationHandler { invalidation in
      seen.invalidations.withLock { _ = $0.insert(invalidation) }
    }
    let old = Invalidation.entry(parent: emma, name: try tree.name("visit"))
    try other.write("Emma/note", "text")
    try other.commitNow()
    tree.refresh()
    #expect(!seen.invalidations.withLock { $0.contains(old) })
    try other.rename("Emma/visit", "Emma/moved")
    try other.commitNow()
    tree.refresh()
    #expect(seen.invalidations.withLock { $0.contains(old) })
  }

  @Test func theyAreForgottenAgain() throws {
    let forgetful = try Forgetful()
    try forgetful.other.write("Emma/one/changed", "changed elsewhere")
    _ = try forgetful.invalidations()
    try #require(forgetful.isLoaded)
    _ = try forgetful.tree.list("Emma/two")
    try forgetful.tree.write("Emma/two/e", "e")
    try forgetful.tree.commitNow()
    #expect(!forgetful.isLoaded)
    #expect(try forgetful.tree.text("Emma/one/changed") == "changed elsewhere")
  }

  /// Of a file's names some are in folders that were forgotten meanwhile: what changes one of them takes away no other.
  @Test(arguments: ["link", "unlink", "rename", "mode"])
  func aNameInAForgottenFolderStays(operation: String) throws {
    let mounted = try MountedVault { $0.loadedItemLimit = 6 }
    try mounted.tree.mkdir("Emma")
    for folder in ["Emma/a", "Emma/b", "Emma/c"] {
      try mounted.tree.mkdir(folder)
      for number in 0..<6 { try mounted.tree.write("\(folder)/\(number)", "\(folder) \(number)") }
    }
    try mounted.tree.write("Emma/a/f", "text")
    try mounted.tree.link("Emma/a/f", "Emma/b/f")
    try mounted.remount()
    let tree = mounted.tree
    // The kernel knows it, so it stays while its folders are forgotten.
    #expect(try tree.stat("Emma/a/f").linkCount == 2)
    #expect(try tree.stat("Emma/b/f").linkCount == 2)
    for number in 0..<6 { _ = try tree.stat("Emma/c/\(number)") }
    var expected: Set = ["Emma/a/f", "Emma/b/f"]
    switch operation {
    case "link":
      try tree.link("Emma/b/f", "Emma/c/f")
      expected.insert("Emma/c/f")
    case "unlink":
      try tree.unlink("Emma/b/f")
      expected.remove("Emma/b/f")
    case "rename":
      try tree.rename("Emma/b/f", "Emma/c/f")
      expected = ["Emma/a/f", "Emma/c/f"]
    default:
      _ = try tree.setAttributes(tree.find("Emma/b/f"), AttributeChange(mode: 0o600), through: nil)
    }
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    let shown = try tree.snapshot().keys.filter { $0.hasSuffix("/f") }
    #expect(Set(shown) == expected)
    for path in expected { #expect(try tree.stat(path).linkCount == expected.count, "\(path)") }
  }

  /// As one that is loaded before anybody opens it, of which the kernel lets go meanwhile.
  @Test func aFolderThatIsForgottenWhileItIsLoadedCostsNothing() throws {
    let mounted = try MountedVault()
    for folder in ["Emma", "Emma/visit"] { try mounted.tree.mkdir(folder) }
    for name in ["a", "b"] { try mounted.tree.write("Emma/visit/\(name)", name) }
    try mounted.remount()
    let tree = mounted.tree
    let inode = try tree.find("Emma/visit")
    let before = tree.withTree { $0.loadedItemCount }
    #expect(throws: FileError.stale) {
      try tree.look { (tree) throws(TreeObstacle) -> Void in
        let node = try tree.directory(inode)
        tree.remove(node)
        throw .missing(MissingFiles(of: node, .readable))
      }
    }
    let after = tree.withTree { $0.loadedItemCount }
    #expect(after == before)
    #expect(try tree.list("Emma/visit") == ["a", "b"])
  }
}
