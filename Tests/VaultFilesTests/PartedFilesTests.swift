import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// Names of one id that show different things, as a well-formed lie may have them, and so are different files.
@Suite struct PartedFilesTests {
  /// What a name `f` in a folder of `Emma` shows.
  private struct Shown {
    let folder: String
    let text: String
    /// The folders in which it says that other names are.
    let knowing: [String]
  }

  /// A mount of a vault with folders a to d, in which `a/f` is "old" and knows of no other name.
  private static func mountOfOne() throws -> MountedVault {
    try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/a", "Emma/b", "Emma/c", "Emma/d"] { try tree.mkdir(path) }
      try tree.write("Emma/a/f", "old")
    }
  }

  /// Another process of the device gives names of the id of `a/f` these states, and settles nothing.
  private static func give(_ names: [Shown], in mounted: MountedVault) throws {
    let process = try mounted.openAgain()
    let member = try #require(process.members.first)
    let entries = member.allEntries()
    func record(_ title: String) throws -> RecordID {
      try #require(entries.first { $0.title.string == title }).record
    }
    let name = try #require(FileName("f"))
    let original = try record("a")
    let first = try #require(try member.item(named: name, in: original))
    var edits: [RecordEdit] = []
    for shown in names {
      var item = first
      let bytes = Array(shown.text.utf8)
      (item.size, item.content) = (UInt64(bytes.count), .inline(bytes))
      item.linkRecords = try shown.knowing.map(record).sorted()
      var edit = try RecordEdit(record: record(shown.folder), items: [name: item])
      edit.hasAllNames = true
      edits.append(edit)
    }
    #expect(try member.commit(edits).failures.isEmpty)
    try process.close()
  }

  /// Of three states one was looked at, and its name removed. Who looks at the next does not see the last one's text.
  @Test(arguments: [true, false]) func aFileThatIsLeftShowsUnderNoOtherName(isOpen: Bool) throws {
    let mounted = try Self.mountOfOne()
    try Self.give(
      [
        Shown(folder: "b", text: "second", knowing: ["b", "c"]),
        Shown(folder: "c", text: "third", knowing: ["b", "c"]),
      ], in: mounted)
    try mounted.remount()
    let tree = mounted.tree
    #expect(try tree.text("Emma/a/f") == "old")
    #expect(try tree.text("Emma/c/f") == "third")
    let handle = try isOpen ? tree.open("Emma/c/f", .read) : nil
    try tree.unlink("Emma/c/f")
    #expect(try tree.text("Emma/b/f") == "second")
    if let handle {
      #expect(try handle.get(at: 0, count: 5) == Array("third".utf8))
      handle.release()
    }
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// A folder is forgotten here, and read again while something still refers to the file that its name was before. (Seed 7065
  /// of a campaign.)
  @Test func aFileThatIsLeftTakesNoNameOfAnother() throws {
    let mounted = try Self.mountOfOne()
    let tree = mounted.tree
    let apart = ["b", "c"]
    try Self.give(
      apart.map { Shown(folder: $0, text: "lie", knowing: apart) }, in: mounted)
    tree.refresh()
    for path in ["Emma/a/f", "Emma/b/f"] { _ = try tree.stat(path) }
    let all = ["a", "b", "c"]
    try Self.give(all.map { Shown(folder: $0, text: "new", knowing: all) }, in: mounted)
    tree.refresh()
    #expect(try tree.stat("Emma/b/f").linkCount == 3)
    try Self.give(
      [Shown(folder: "a", text: "lie", knowing: [])]
        + apart.map { Shown(folder: $0, text: "new", knowing: apart) }, in: mounted)
    tree.refresh()
    tree.withTree { tree in
      for case let directory as DirectoryNode in Array(tree.nodes.values)
      where directory.title == FileName("b") {
        tree.loadedItemCount -= directory.loadedCost
        directory.files = nil
        directory.wasEvicted = true
      }
    }
    for path in ["Emma/b/f", "Emma/c/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// Of the names that show the older state one is read again, since something else in its folder has changed.
  @Test func aNameThatIsReadAgainStaysOneOfItsFile() throws {
    let mounted = try Self.mountOfOne()
    let tree = mounted.tree
    for path in ["Emma/b/f", "Emma/d/f"] { try tree.link("Emma/a/f", path) }
    try tree.commitNow()
    try Self.give([Shown(folder: "b", text: "lie", knowing: ["a", "b", "d"])], in: mounted)
    tree.refresh()
    for path in ["Emma/a/f", "Emma/d/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    let handle = try tree.open("Emma/a/f")
    try mounted.command { try $0.write("Emma/a/other", "other") }
    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    for path in ["Emma/a/f", "Emma/d/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    try handle.put(Array("new".utf8), at: 0)
    try handle.flush()
    handle.release()
    let texts = try ["a", "b", "d"].map { try tree.text("Emma/\($0)/f") }
    #expect(texts == ["new", "lie", "new"])
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try ApartDevices.files(tree).conflicts == [])
  }

  /// The one whose id it was is removed, and something still refers to that.
  @Test func namesThatStayAreOneFileWhereAnotherOneGoes() throws {
    let mounted = try Self.mountOfOne()
    let tree = mounted.tree
    let apart = ["b", "c"]
    try Self.give(
      apart.map { Shown(folder: $0, text: "lie", knowing: apart) }, in: mounted)
    tree.refresh()
    for path in ["Emma/a/f", "Emma/b/f"] { _ = try tree.stat(path) }
    try mounted.command { command in
      try command.unlink("Emma/a/f")
      try command.write("Emma/b/other", "other")
    }
    tree.refresh()
    for path in ["Emma/b/f", "Emma/c/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// A name that was a file by itself is given another name.
  @Test func aFileByItselfThatGetsANameIsOneWithIt() throws {
    let mounted = try Self.mountOfOne()
    let tree = mounted.tree
    try Self.give([Shown(folder: "b", text: "lie", knowing: [])], in: mounted)
    tree.refresh()
    #expect(try tree.text("Emma/b/f") == "lie")
    let names = ["b", "c"].map { Shown(folder: $0, text: "lie", knowing: ["b", "c"]) }
    try Self.give(names, in: mounted)
    tree.refresh()
    for path in ["Emma/b/f", "Emma/c/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    #expect(try mounted.differencesFromFresh() == [])
    try tree.write("Emma/b/f", "new")
    let texts = try ["a", "b", "c"].map { try tree.text("Emma/\($0)/f") }
    #expect(texts == ["old", "new", "new"])
  }
}
