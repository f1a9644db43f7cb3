import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// A file's content is one thing however many names it has, also when devices change it and its names at once.
@Suite struct HardLinkTests {
  private static func prepare(_ tree: FileTree) throws {
    for path in ["Emma", "Emma/a", "Emma/b", "Emma/c", "Emma/d"] { try tree.mkdir(path) }
    try tree.write("Emma/a/f", "old")
    try tree.link("Emma/a/f", "Emma/b/f")
  }

  /// In its folder, or in another one.
  @Test(arguments: ["Emma/b/g", "Emma/d/g"])
  func anEditAndALaterRenameOfTheOtherNameAreBothThere(renamed: String) throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.here.tree.write("Emma/a/f", "new")
    try devices.here.tree.commitNow()
    try devices.there.rename("Emma/b/f", renamed)
    try devices.meet()
    let shown = try devices.files()
    #expect(shown == ["Emma/a/f": "new", renamed: "new"])
    #expect(try devices.there.stat(renamed).linkCount == 2)
  }

  @Test func anEditAndAnEarlierRenameOfTheOtherNameAreBothThere() throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.there.rename("Emma/b/f", "Emma/b/g")
    try devices.there.commitNow()
    try devices.here.tree.write("Emma/a/f", "new")
    try devices.meet()
    let files = try devices.files()
    #expect(files["Emma/a/f"] == "new" && files["Emma/b/g"] == "new")
    // A name that was changed after it went is there again, as any file is.
    #expect(Set(files.values) == ["new"])
  }

  @Test func namesThatMovedApartShowTheLaterContent() throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.here.tree.rename("Emma/a/f", "Emma/c/f")
    try devices.here.tree.commitNow()
    try devices.there.rename("Emma/b/f", "Emma/d/f")
    try devices.there.write("Emma/d/f", "edited")
    try devices.meet()
    let files = try devices.files()
    #expect(files["Emma/c/f"] == "edited" && files["Emma/d/f"] == "edited")
    #expect(files.conflicts == [])
    #expect(Set(files.values) == ["edited"])
  }

  @Test func namesThatAllMovedAwayTakeAnEditAlong() throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.here.tree.write("Emma/a/f", "edited")
    try devices.here.tree.commitNow()
    try devices.there.rename("Emma/a/f", "Emma/c/f")
    try devices.there.rename("Emma/b/f", "Emma/d/f")
    try devices.meet()
    let shown = try devices.files()
    #expect(shown == ["Emma/c/f": "edited", "Emma/d/f": "edited"])
  }

  @Test func aFileOfOneNameTakesAnEditAlongWhereItMoved() throws {
    let devices = try ApartDevices { tree in
      try tree.mkdir("Emma")
      try tree.mkdir("Emma/a")
      try tree.mkdir("Emma/b")
      try tree.write("Emma/a/f", "old")
    }
    try devices.here.tree.write("Emma/a/f", "edited")
    try devices.here.tree.commitNow()
    try devices.there.rename("Emma/a/f", "Emma/b/g")
    try devices.meet()
    let shown = try devices.files()
    #expect(shown == ["Emma/b/g": "edited"])
  }

  @Test func ofTwoEditsTheEarlierIsKeptOnce() throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.here.tree.write("Emma/a/f", "earlier")
    try devices.here.tree.commitNow()
    try devices.there.rename("Emma/b/f", "Emma/d/f")
    try devices.there.write("Emma/d/f", "later")
    try devices.meet()
    let files = try devices.files()
    #expect(Set(files.withoutConflicts.values) == ["later"])
    #expect(Set(files.conflicts) == ["earlier"])
  }

  @Test func aNewNameElsewhereShowsAnEditThatDidNotKnowIt() throws {
    let devices = try ApartDevices(Self.prepare)
    try devices.there.link("Emma/b/f", "Emma/c/f")
    try devices.there.commitNow()
    try devices.here.tree.write("Emma/a/f", "new")
    try devices.meet()
    let shown = try devices.files()
    #expect(shown == ["Emma/a/f": "new", "Emma/b/f": "new", "Emma/c/f": "new"])
    #expect(try devices.here.tree.stat("Emma/c/f").linkCount == 3)
  }

  /// What another device has done is here already when the mount, which does not show it yet, renames.
  @Test func aRenameOnTopOfAnEditThatWasNotShownYetKeepsTheEdit() throws {
    let mounted = try MountedVault.prepared(Self.prepare)
    let other = try mounted.mountOnAnotherDevice()
    try other.write("Emma/a/f", "new")
    try other.commitNow()
    try mounted.tree.rename("Emma/b/f", "Emma/b/g")
    try mounted.tree.commitNow()
    mounted.tree.refresh()
    let live = try ApartDevices.files(mounted.tree)
    #expect(live == ["Emma/a/f": "new", "Emma/b/g": "new"])
    other.refresh()
    let others = try ApartDevices.files(other)
    #expect(others == ["Emma/a/f": "new", "Emma/b/g": "new"])
  }

  /// Names of one file of which nobody has settled the content, as a well-formed lie may have it.
  @Test func namesOfDifferentContentAreFilesByThemselves() throws {
    let mounted = try MountedVault.prepared(Self.prepare)
    let member = try #require(mounted.vault.members.first)
    let record = try #require(member.allEntries().first { $0.title.string == "b" }).record
    let name = try #require(FileName("f"))
    var item = try #require(try member.item(named: name, in: record))
    (item.size, item.content) = (3, .inline(Array("lie".utf8)))
    var edit = RecordEdit(record: record, items: [name: item])
    edit.hasAllNames = true
    _ = try member.commit([edit])
    for paths in [["Emma/a/f", "Emma/b/f"], ["Emma/b/f", "Emma/a/f"]] {
      let fresh = try mounted.mountAgain()
      let texts = try paths.map { try fresh.text($0) }
      #expect(texts == paths.map { $0 == "Emma/a/f" ? "old" : "lie" })
    }
  }

  @Test func aCommandThatKnowsOneNameChangesTheFile() throws {
    let mounted = try MountedVault.prepared(Self.prepare)
    let member = try #require(mounted.vault.members.first)
    let record = try #require(member.allEntries().first { $0.title.string == "b" }).record
    let name = try #require(FileName("f"))
    var item = try #require(try member.item(named: name, in: record))
    (item.size, item.content) = (3, .inline(Array("new".utf8)))
    _ = try member.commit([RecordEdit(record: record, items: [name: item])])
    mounted.tree.refresh()
    let live = try ApartDevices.files(mounted.tree)
    #expect(live == ["Emma/a/f": "new", "Emma/b/f": "new"])
  }

  /// A mount and a command of one device, or of another one that shares the folder: the mount knows nothing of what the
  /// command does until it has committed.
  private static func beside(
    _ prepare: (FileTree) throws -> Void, _ mount: (FileTree) throws -> Void,
    _ command: (FileTree) throws -> Void
  ) throws -> MountedVault {
    let mounted = try MountedVault.prepared(prepare)
    let other = try mounted.mountOnAnotherDevice()
    try mount(mounted.tree)
    try command(other)
    try other.commitNow()
    try mounted.tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    return mounted
  }

  @Test func aFileThatMovedToTwoPlacesIsOneFile() throws {
    let mounted = try Self.beside(Self.prepare) { tree in
      try tree.unlink("Emma/b/f")
      try tree.rename("Emma/a/f", "Emma/c/f")
    } _: { other in
      try other.rename("Emma/a/f", "Emma/d/f")
      try other.rename("Emma/d/f", "Emma/g")
    }
    #expect(try mounted.tree.stat("Emma/c/f").linkCount == 2)
    try mounted.tree.write("Emma/c/f", "new")
    #expect(try mounted.tree.text("Emma/g") == "new")
  }

  /// One is moved into a folder in which the other device gives it a name, or moves it as well. (Seed 49 of a campaign.)
  @Test(arguments: [true, false]) func twoNewNamesInOneFolderAreOfOneFile(isLinked: Bool) throws {
    let mounted = try Self.beside {
      for path in ["Emma", "Emma/c"] { try $0.mkdir(path) }
      try $0.write("Emma/made", "old")
      try $0.commitNow()
      // So that its name is younger than the file.
      try $0.rename("Emma/made", "Emma/a")
    } _: { tree in
      try isLinked ? tree.link("Emma/a", "Emma/c/b") : tree.rename("Emma/a", "Emma/c/b")
    } _: { other in
      try other.rename("Emma/a", "Emma/c/c")
    }
    let paths = ["Emma/c/b", "Emma/c/c"]
    for paths in [paths, paths.reversed()] {
      // Whichever is looked at first.
      let fresh = try mounted.mountAgain()
      #expect(try paths.map { try fresh.stat($0).linkCount } == [2, 2], "\(paths)")
    }
    try mounted.tree.write("Emma/c/b", "new")
    #expect(try mounted.tree.text("Emma/c/c") == "new")
  }

  /// A command gives a file a name that the mount has changed and not saved yet: in a folder that the mount shows, in one
  /// that it has not looked at, and beside another name; and the mount hears of it before it saves, or then. (Seeds 27,
  /// 52, 70 and 264 of a campaign.)
  @Test(arguments: ["Emma/c/b", "Emma/d/b", "Emma/x"], [true, false])
  func aNewNameIsOfTheFileAsItIsChangedHere(path: String, hearsBefore: Bool) throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    for path in ["Emma", "Emma/c", "Emma/d"] { try tree.mkdir(path) }
    try tree.write("Emma/d/other", "other")
    try tree.write("Emma/b", "old")
    try tree.link("Emma/b", "Emma/c/a")
    try mounted.remount()
    let inode = try mounted.tree.find("Emma/c/a")
    let change = AttributeChange(mode: 0o640)
    _ = try mounted.tree.setAttributes(inode, change, through: nil)
    try mounted.command { try $0.link("Emma/b", path) }
    if hearsBefore { mounted.tree.refresh() }
    try mounted.tree.commitNow()
    mounted.tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try ApartDevices.files(mounted.tree).count == 4, "nothing was lost, so no copy is kept")
    for path in ["Emma/b", "Emma/c/a", path] {
      let shown = try mounted.tree.stat(path)
      #expect(shown.linkCount == 3 && shown.mode & 0o777 == 0o640, "\(path)")
    }
  }

  /// Both give a file a name, one of them beside the name that it had. (Seed 278 of a campaign.)
  @Test(arguments: [true, false]) func newNamesThatDoNotKnowOfEachOther(hearsBefore: Bool) throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/d"] { try tree.mkdir(path) }
      try tree.write("Emma/a", "old")
    }
    let tree = mounted.tree
    try tree.link("Emma/a", "Emma/d/x")
    try mounted.command { try $0.link("Emma/a", "Emma/b") }
    if hearsBefore { tree.refresh() }
    try tree.commitNow()
    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    let fresh = try mounted.mountAgain()
    for path in ["Emma/d/x", "Emma/b", "Emma/a"] {
      #expect(try fresh.stat(path).linkCount == 3, "\(path)")
    }
  }

  /// A mount removes a folder with one of two names of a file, and lets go of the file, at whose other name nobody has looked.
  /// Then a command brings the folder back.
  @Test func aNameThatIsBroughtBackIsOfTheFileAgain() throws {
    let mounted = try MountedVault.prepared(Self.prepare)
    try mounted.remount()
    let tree = mounted.tree
    try tree.unlink("Emma/b/f")
    try tree.rmdir("Emma/b")
    try tree.commitNow()
    let process = try mounted.openAgain()
    let emma = try #require(process.members.first)
    let folder = try #require(emma.allEntries().first { $0.title.string == "b" }).record
    let edits = try RecordRestore(emma).undeletion(of: folder).edits
    #expect(try emma.commit(edits).failures.isEmpty)
    try process.close()
    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    for path in ["Emma/a/f", "Emma/b/f"] { #expect(try tree.stat(path).linkCount == 2, "\(path)") }
    try tree.write("Emma/b/f", "new")
    #expect(try tree.text("Emma/a/f") == "new")
  }

  /// A command removes a folder in which the mount has just given a file a name. (Seed 161 of a campaign.)
  @Test func aNameInAFolderThatOthersRemoveIsNotCounted() throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/c"] { try tree.mkdir(path) }
      try tree.write("Emma/a", "old")
    }
    let tree = mounted.tree
    try tree.link("Emma/a", "Emma/c/b")
    try mounted.command { try $0.rmdir("Emma/c") }
    tree.refresh()
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.stat("Emma/a").linkCount == 1)
  }

  @Test func anEditFollowsAFileThatMovedInItsFolder() throws {
    let mounted = try Self.beside {
      try $0.mkdir("Emma")
      try $0.write("Emma/f", "old")
    } _: { tree in
      try tree.write("Emma/f", "new")
    } _: { other in
      try other.rename("Emma/f", "Emma/g")
    }
    let shown = try ApartDevices.files(mounted.tree)
    #expect(shown == ["Emma/f": "new", "Emma/g": "new"])
    #expect(try mounted.tree.stat("Emma/g").linkCount == 2)
  }

  @Test func anEditReachesANameThatItsAuthorHadNotSeen() throws {
    let mounted = try Self.beside(Self.prepare) { tree in
      try tree.write("Emma/a/f", "new")
    } _: { other in
      try other.link("Emma/b/f", "Emma/c/f")
    }
    let shown = try ApartDevices.files(mounted.tree)
    #expect(shown == ["Emma/a/f": "new", "Emma/b/f": "new", "Emma/c/f": "new"])
    #expect(try mounted.tree.stat("Emma/c/f").linkCount == 3)
  }

  @Test func aNewNameDoesNotBringBackOneThatIsGone() throws {
    let mounted = try Self.beside(Self.prepare) { tree in
      try tree.link("Emma/a/f", "Emma/c/f")
    } _: { other in
      try other.unlink("Emma/b/f")
    }
    let shown = try ApartDevices.files(mounted.tree)
    #expect(shown == ["Emma/a/f": "old", "Emma/c/f": "old"])
    #expect(try mounted.tree.stat("Emma/c/f").linkCount == 2)
  }

  /// As a well-formed lie has it: the mount that was there all the time and one that begins show the same.
  @Test func aNameThatShowsSomethingElseIsAFileByItselfInALiveMountToo() throws {
    let mounted = try MountedVault.prepared(Self.prepare)
    #expect(try mounted.tree.stat("Emma/b/f").linkCount == 2)
    let process = try mounted.openAgain()
    let member = try #require(process.members.first)
    let record = try #require(member.allEntries().first { $0.title.string == "b" }).record
    let name = try #require(FileName("f"))
    var item = try #require(try member.item(named: name, in: record))
    (item.size, item.content) = (3, .inline(Array("lie".utf8)))
    var edit = RecordEdit(record: record, items: [name: item])
    edit.hasAllNames = true
    _ = try member.commit([edit])
    try process.close()
    mounted.tree.refresh()
    let live = try ApartDevices.files(mounted.tree)
    #expect(live == ["Emma/a/f": "old", "Emma/b/f": "lie"])
    #expect(try mounted.differencesFromFresh() == [])
  }
}
