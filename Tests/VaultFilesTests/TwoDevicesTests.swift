import Glibc
import Synchronization
import Testing
import Threads
import Vault
import VaultModel

@testable import VaultFiles

/// Two devices whose commits arrive while the other one writes.
@Suite struct TwoDevicesTests {
  private struct Pair {
    let mounted: MountedVault
    let other: FileTree
    var tree: FileTree { mounted.tree }

    init() throws {
      mounted = try MountedVault.prepared { tree in
        for path in ["Emma", "Emma/visit"] { try tree.mkdir(path) }
        try tree.write("Emma/visit/file", "old")
      }
      other = try mounted.mountOnAnotherDevice()
    }

    /// What the other device has done so far shows here.
    func bringNews() throws {
      try other.commitNow()
      tree.refresh()
    }

    /// What this device has written so far is committed, and shows together with what that was joined with.
    func commitAndRefresh() throws {
      try tree.commitNow()
      tree.refresh()
    }

    /// What the conflicts folder holds, as both see it at the end.
    func conflicts() throws -> [String: String] {
      var found: [String: String] = [:]
      let top = "Emma/\(ConflictMark.folderTitle)"
      for folder in try tree.list(top) {
        for name in try tree.list("\(top)/\(folder)") {
          found[name] = try tree.text("\(top)/\(folder)/\(name)")
        }
        #expect(folder.hasPrefix("visit - offline conflict "))
      }
      return found
    }
  }

  @Test func whatArrivesUnderAnUnsavedFileIsKeptAsAConflict() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try handle.put(Array("mine".utf8), at: 0)
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.bringNews()
    try handle.flush()
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/visit/file") == "mine")
    #expect(try pair.conflicts() == ["file": "theirs"])
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "mine")
  }

  /// The first write of an edit waits for something, such as a part of the file, when the news come.
  @Test func whatArrivesDuringTheFirstWriteIsKeptAsAConflict() throws {
    let pair = try Pair()
    let tree = pair.tree
    let handle = try tree.open("Emma/visit/file")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.write("Emma/visit/mark", "")
    try pair.other.commitNow()
    let mark = try tree.name("mark")
    let refresh = try handle.draft.content.withLock { (content) throws(FileError) in
      let refresh = Worker { tree.refresh() }
      for _ in 0..<120_000 where !isShown(mark, in: tree) { usleep(1000) }
      try content.truncate(to: 0)
      return refresh
    }
    refresh.join()
    #expect(isShown(mark, in: tree))
    try handle.put(Array("mine".utf8), at: 0)
    try handle.flush()
    handle.release()
    try tree.commitNow()
    tree.refresh()
    #expect(try tree.text("Emma/visit/file") == "mine")
    #expect(try pair.conflicts() == ["file": "theirs"])
  }

  private func isShown(_ name: FileName, in tree: FileTree) -> Bool {
    tree.withTree { tree in
      tree.views.values.contains { view in
        view.directories.values.contains { $0.files?[name] != nil }
      }
    }
  }

  @Test func whatIsOpenAndUntouchedShowsWhatOthersMadeOfIt() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    #expect(try handle.get(at: 0, count: 9) == Array("old".utf8))
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.bringNews()
    #expect(try handle.get(at: 0, count: 9) == Array("theirs".utf8))
    try handle.put(Array("mine".utf8), at: 6)
    try handle.flush()
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/visit/file") == "theirsmine")
    #expect(try pair.tree.list("Emma") == ["visit"])
  }

  /// Nothing was put in the place of the other device's file, which stays what it is.
  @Test(arguments: ["rename", "exchange"])
  func aNameThatIsGivenUpBeforeACommitMakesNoConflict(how: String) throws {
    let pair = try Pair()
    let tree = pair.tree
    try tree.write("Emma/visit/x", "ours")
    try pair.other.write("Emma/visit/x", "theirs")
    try pair.bringNews()
    #expect(try tree.text("Emma/visit/x") == "ours")
    if how == "exchange" { try tree.mkdir("Emma/visit/y") }
    try tree.rename("Emma/visit/x", "Emma/visit/y", how == "exchange" ? .exchange : .replace)
    try pair.commitAndRefresh()
    #expect(try tree.text("Emma/visit/x") == "theirs")
    #expect(try tree.text("Emma/visit/y") == "ours")
    #expect(try tree.list("Emma") == ["visit"])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// What a program has changed in a mapping the kernel writes when it pleases.
  @Test func whatAMappingHoldsIsWrittenBeforeTheFileShowsNews() throws {
    let pair = try Pair()
    let tree = pair.tree
    let waiting = Mutex<[@Sendable (() -> Void) -> Void]>([])
    tree.setWriteBackHandler { _, body in waiting.withLock { $0.append(body) } }
    let handle = try tree.open("Emma/visit/file")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.commitNow()
    tree.refresh()
    #expect(try handle.get(at: 0, count: 9) == Array("old".utf8))
    try handle.put(Array("mine".utf8), at: 0)
    let written = waiting.withLock { $0 }
    #expect(written.count == 1)
    for body in written { body {} }
    try handle.flush()
    handle.release()
    try tree.commitNow()
    tree.refresh()
    #expect(try tree.text("Emma/visit/file") == "mine")
    #expect(try pair.conflicts() == ["file": "theirs"])
  }

  @Test func aMappingOfWhichNothingIsWrittenShowsNews() throws {
    let pair = try Pair()
    let tree = pair.tree
    let waiting = Mutex<[@Sendable (() -> Void) -> Void]>([])
    tree.setWriteBackHandler { _, body in waiting.withLock { $0.append(body) } }
    let handle = try tree.open("Emma/visit/file")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.commitNow()
    tree.refresh()
    let seen = Mutex<[Invalidation]>([])
    tree.setInvalidationHandler { one in seen.withLock { $0.append(one) } }
    let written = waiting.withLock { $0 }
    for body in written { body {} }
    #expect(try handle.get(at: 0, count: 9) == Array("theirs".utf8))
    let invalidations = seen.withLock { $0 }
    #expect(invalidations == [.content(handle.inode)])
    handle.release()
    // Nobody can have a mapping to write to any more.
    let reader = try tree.open("Emma/visit/file", .read)
    defer { reader.release() }
    try pair.other.write("Emma/visit/file", "newer")
    try pair.other.commitNow()
    tree.refresh()
    #expect(try reader.get(at: 0, count: 9) == Array("newer".utf8))
    let count = waiting.withLock { $0.count }
    #expect(count == 1)
  }

  /// A page that the kernel reads again when it has written what it had may be changed by the time the news is shown.
  @Test func aMappingThatIsReadAgainShowsNewsAtTheNextLook() throws {
    let pair = try Pair()
    let tree = pair.tree
    let waiting = Mutex<[@Sendable (() -> Void) -> Void]>([])
    tree.setWriteBackHandler { _, body in waiting.withLock { $0.append(body) } }
    let handle = try tree.open("Emma/visit/file")
    defer { handle.release() }
    handle.noteCached()
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.commitNow()
    for wanted in ["old", "theirs"] {
      tree.refresh()
      let written = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      #expect(written.count == 1)
      for body in written { body { if wanted == "old" { handle.noteCached() } } }
      #expect(try handle.get(at: 0, count: 9) == Array(wanted.utf8))
    }
  }

  /// The kernel gives an append the end that it knows, which is the one before the news.
  @Test func whatIsAppendedComesAfterWhatOthersHaveAppended() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file", [.write])
    let size = try handle.attributes().size
    try pair.other.write("Emma/visit/file", "old and theirs")
    try pair.other.commitNow()
    pair.tree.refresh()
    let seen = Mutex<[Invalidation]>([])
    pair.tree.setInvalidationHandler { one in seen.withLock { $0.append(one) } }
    try handle.put(Array(", mine".utf8), at: size, as: .atEnd)
    try handle.put(Array(", more".utf8), at: handle.attributes().size, as: .atEnd)
    let invalidations = seen.withLock { $0 }
    #expect(invalidations == [.content(handle.inode)])
    try handle.flush()
    handle.release()
    try pair.tree.commitNow()
    #expect(try pair.tree.text("Emma/visit/file") == "old and theirs, mine, more")
    #expect(try pair.tree.list("Emma") == ["visit"])
  }

  /// The commit of a new name finds there what others have written, which who writes meanwhile has not seen.
  @Test func whatIsWrittenWhileItsNewNameIsCommittedSwallowsNothing() throws {
    let pair = try Pair()
    let tree = pair.tree
    try tree.rename("Emma/visit/file", "Emma/visit/new")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.commitNow()
    let edits = tree.withTree { tree in
      tree.views.values.flatMap {
        $0.collectEdits(andTimesSince: ContinuousClock.now - .seconds(3600)).edits
      }
    }
    try tree.write("Emma/visit/new", "mine")
    let member = try #require(pair.mounted.vault.members.first)
    let commit = try member.commit(edits, foldsRedo: true)
    tree.withTree { tree in
      for view in tree.views.values { _ = tree.settle(edits, commit, of: view) }
    }
    try tree.commitNow()
    tree.refresh()
    #expect(try tree.text("Emma/visit/new") == "mine")
    #expect(try tree.list("Emma/visit") == ["new"])
    #expect(try pair.conflicts() == ["new": "theirs"])
  }

  @Test func aNewFileOfTheSameNameKeepsBoth() throws {
    let pair = try Pair()
    try pair.tree.write("Emma/visit/card", "mine")
    try pair.other.write("Emma/visit/card", "theirs")
    try pair.bringNews()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/visit/card") == "mine")
    #expect(try pair.conflicts() == ["card": "theirs"])
  }

  @Test func aFileReplacedElsewhereDoesNotSwallowWhatIsBeingWritten() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try handle.put(Array("mine".utf8), at: 0)
    try pair.other.write("Emma/visit/new", "theirs")
    try pair.other.rename("Emma/visit/new", "Emma/visit/file")
    try pair.bringNews()
    try handle.flush()
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/visit/file") == "mine")
    #expect(try pair.conflicts() == ["file": "theirs"])
  }

  @Test func aFileDeletedElsewhereStaysWhileItIsBeingWritten() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try handle.put(Array("mine".utf8), at: 0)
    try pair.other.unlink("Emma/visit/file")
    try pair.bringNews()
    try handle.flush()
    handle.release()
    try pair.tree.commitNow()
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "mine")
  }

  /// The program has it open all the time, and nothing was unsaved when the news came.
  @Test func aFileDeletedElsewhereIsThereAgainWhenItIsWrittenAfterThat() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.unlink("Emma/visit/file")
    try pair.bringNews()
    #expect(try pair.tree.list("Emma/visit") == [])
    try handle.put(Array("mine".utf8), at: 0)
    try handle.sync()
    #expect(try handle.attributes().linkCount == 1)
    handle.release()
    #expect(try pair.tree.text("Emma/visit/file") == "mine")
    try pair.commitAndRefresh()
    #expect(try pair.mounted.differencesFromFresh() == [])
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "mine")
  }

  @Test func aFileReplacedElsewhereDoesNotSwallowWhatIsWrittenAfterThat() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.write("Emma/visit/new", "theirs")
    try pair.other.rename("Emma/visit/new", "Emma/visit/file")
    try pair.bringNews()
    #expect(try pair.tree.text("Emma/visit/file") == "theirs")
    try handle.put(Array("mine".utf8), at: 0)
    try handle.flush()
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/visit/file") == "mine")
    #expect(try pair.conflicts() == ["file": "theirs"])
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "mine")
  }

  @Test func aFileThatOthersMoveToWhereNobodyLooksTakesALaterWriteAlong() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.mkdir("Emma/elsewhere")
    try pair.other.rename("Emma/visit/file", "Emma/elsewhere/file")
    try pair.bringNews()
    try handle.put(Array("mine".utf8), at: 0)
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.tree.text("Emma/elsewhere/file") == "mine")
    #expect(try pair.mounted.differencesFromFresh() == [])
    pair.other.refresh()
    #expect(try pair.other.text("Emma/elsewhere/file") == "mine")
  }

  /// Who removes a file here means it, whatever is written to it after that.
  @Test func aFileThatIsRemovedHereTooStaysAway() throws {
    let pair = try Pair()
    try pair.tree.link("Emma/visit/file", "Emma/visit/second")
    try pair.tree.commitNow()
    pair.other.refresh()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.unlink("Emma/visit/file")
    try pair.bringNews()
    try pair.tree.unlink("Emma/visit/second")
    try handle.put(Array("mine".utf8), at: 0)
    try handle.sync()
    handle.release()
    try pair.tree.commitNow()
    #expect(try pair.tree.list("Emma/visit") == [])
  }

  /// An open file that was written after others had taken its name, which it cannot have back.
  private func writeWhereNoNameIsLeft(_ pair: Pair, _ what: String) throws -> FileHandle {
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.unlink("Emma/visit/file")
    if what == "record removed" { try pair.other.rmdir("Emma/visit") }
    try pair.bringNews()
    if what == "made anew here" {
      try pair.tree.write("Emma/visit/file", "another one")
      try pair.tree.commitNow()
    }
    try handle.put(Array("mine".utf8), at: 0)
    return handle
  }

  /// What cannot have its name back is no secret to the program that wrote it.
  @Test(arguments: ["made anew here", "record removed"])
  func whatIsWrittenWhereNoNameIsLeftFails(what: String) throws {
    let pair = try Pair()
    let handle = try writeWhereNoNameIsLeft(pair, what)
    #expect(throws: FileError.stale) { try handle.flush() }
    #expect(throws: FileError.stale) { try handle.sync() }
    handle.release()
    try pair.tree.commitNow()
    if what == "made anew here" {
      #expect(try pair.tree.text("Emma/visit/file") == "another one")
    }
    #expect(try pair.tree.list("Emma") == (what == "record removed" ? [] : ["visit"]))
  }

  /// As pages of a mapping, which come when the descriptor was closed: nobody is there who could be told.
  @Test(arguments: ["made anew here", "record removed"])
  func whatComesAfterTheLastFlushIsKeptWhereNoNameIsLeft(what: String) throws {
    let pair = try Pair()
    let handle = try writeWhereNoNameIsLeft(pair, what)
    handle.release()
    try pair.commitAndRefresh()
    if what == "record removed" {
      #expect(try pair.conflicts() == ["file": "mine"])
    } else {
      let names = try pair.tree.list("Emma/visit")
      #expect(names.count == 2)
      #expect(names.allSatisfy { $0.hasPrefix("file") })
      let texts = try names.map { try pair.tree.text("Emma/visit/\($0)") }
      #expect(texts == ["another one", "mine"])
    }
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// What happens to the folder, which shows as empty by then, before the rest of the file comes.
  enum Removal: CaseIterable {
    case here, hereAndSaved, byBoth, byBothAndSeen
  }

  @Test(arguments: Removal.allCases)
  func whatComesAfterTheLastFlushIsKeptWhereTheFolderIsRemovedHere(removal: Removal) throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.unlink("Emma/visit/file")
    try pair.bringNews()
    try pair.tree.rmdir("Emma/visit")
    switch removal {
    case .here: break
    case .hereAndSaved: try pair.tree.commitNow()
    case .byBoth, .byBothAndSeen:
      try pair.other.rmdir("Emma/visit")
      try pair.other.commitNow()
      if removal == .byBothAndSeen { pair.tree.refresh() }
    }
    try handle.put(Array("mine".utf8), at: 0)
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.conflicts() == ["file": "mine"])
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts"])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// Whether the news comes before the commit, or with it.
  @Test(arguments: [true, false])
  func whatIsWrittenIntoARecordThatOthersRemoveIsKept(refreshes: Bool) throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try handle.put(Array("mine".utf8), at: 0)
    try handle.flush()
    try pair.other.unlink("Emma/visit/file")
    try pair.other.rmdir("Emma/visit")
    try pair.other.commitNow()
    if refreshes { pair.tree.refresh() }
    try handle.sync()
    handle.release()
    try pair.commitAndRefresh()
    #expect(try pair.conflicts() == ["file": "mine"])
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts"])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// A folder is removed when it is empty: what others put into it meanwhile nobody here has seen.
  @Test func whatOthersPutIntoARemovedFolderIsKept() throws {
    let pair = try Pair()
    try pair.tree.unlink("Emma/visit/file")
    try pair.tree.rmdir("Emma/visit")
    try pair.other.write("Emma/visit/new", "theirs")
    try pair.other.commitNow()
    try pair.commitAndRefresh()
    #expect(try pair.conflicts()["new"] == "theirs")
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts"])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  @Test func whatOthersRemoveInAFolderThatIsMovedIsKept() throws {
    let pair = try Pair()
    try pair.tree.rename("Emma/visit", "Emma/moved")
    try pair.other.unlink("Emma/visit/file")
    try pair.other.rmdir("Emma/visit")
    try pair.other.commitNow()
    try pair.commitAndRefresh()
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts", "moved"])
    #expect(try pair.conflicts() == ["file": "old"])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// The one note among the conflicts, which says a name that lost.
  private func expectNote(of name: String, in tree: FileTree) throws {
    let top = "Emma/\(ConflictMark.folderTitle)"
    let copies = try tree.list(top)
    #expect(copies.count == 1)
    let copy = try #require(copies.first)
    #expect(copy.hasPrefix("\(name) - offline conflict "))
    #expect(try tree.list("\(top)/\(copy)") == ["record.md"])
    #expect(try tree.text("\(top)/\(copy)/record.md").contains("\n\(name)\n"))
  }

  @Test(arguments: [false, true])
  func theNameThatOthersHaveGivenARenamedFolderIsKept(showsNewsFirst: Bool) throws {
    let pair = try Pair()
    try pair.tree.rename("Emma/visit", "Emma/first")
    try pair.tree.rename("Emma/first", "Emma/mine")
    try pair.other.rename("Emma/visit", "Emma/theirs")
    try pair.other.commitNow()
    if showsNewsFirst { pair.tree.refresh() }
    try pair.tree.commitNow()
    pair.tree.refresh()
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts", "mine"])
    try expectNote(of: "theirs", in: pair.tree)
    #expect(try pair.mounted.differencesFromFresh() == [])
    // What somebody sees they replace knowingly.
    pair.other.refresh()
    try pair.other.rename("Emma/mine", "Emma/theirs after all")
    try pair.other.commitNow()
    #expect(try pair.other.list("Emma") == ["Offline Sync Conflicts", "theirs after all"])
    try expectNote(of: "theirs", in: pair.other)
  }

  @Test func theNameThatOthersHaveGivenARemovedFolderIsKept() throws {
    let pair = try Pair()
    try pair.tree.unlink("Emma/visit/file")
    try pair.tree.commitNow()
    pair.other.refresh()
    try pair.tree.rmdir("Emma/visit")
    try pair.other.rename("Emma/visit", "Emma/theirs")
    try pair.other.commitNow()
    try pair.tree.commitNow()
    pair.tree.refresh()
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts"])
    try expectNote(of: "theirs", in: pair.tree)
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  @Test func theNameThatOthersHaveGivenAFolderIsKeptAfterACrash() throws {
    let pair = try Pair()
    try pair.tree.rename("Emma/visit", "Emma/mine")
    try pair.tree.syncDirectory(pair.tree.find("Emma"))
    try pair.other.rename("Emma/visit", "Emma/theirs")
    try pair.other.commitNow()
    try pair.mounted.crash()
    #expect(try pair.tree.list("Emma") == ["Offline Sync Conflicts", "mine"])
    try expectNote(of: "theirs", in: pair.tree)
  }

  private static let tag = Array("user.tag".utf8)

  /// As a program does that has the file open.
  private func setAttributes(_ what: String, of handle: FileHandle, in tree: FileTree) throws {
    switch what {
    case "mode":
      _ = try tree.setAttributes(handle.inode, AttributeChange(mode: 0o640), through: handle)
    case "time":
      let time = FileTimestamp(seconds: 1_700_000_000, nanoseconds: 0)
      _ = try tree.setAttributes(
        handle.inode, AttributeChange(modified: .to(time)), through: handle)
    default: try tree.setXattr(handle.inode, Self.tag, [1], mode: .createOrReplace)
    }
  }

  @Test(arguments: ["mode", "time", "attribute"])
  func aFileDeletedElsewhereIsThereAgainWhenItsAttributesAreSet(what: String) throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.unlink("Emma/visit/file")
    try pair.other.commitNow()
    pair.tree.refresh()
    try setAttributes(what, of: handle, in: pair.tree)
    #expect(try handle.attributes().linkCount == 1)
    try handle.sync()
    handle.release()
    try pair.tree.commitNow()
    pair.tree.refresh()
    #expect(try pair.mounted.differencesFromFresh() == [])
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "old")
    let shown = try pair.other.stat("Emma/visit/file")
    switch what {
    case "mode": #expect(shown.mode & FileMode.permissionMask == 0o640)
    case "time": #expect(shown.modified.seconds == 1_700_000_000)
    default: #expect(try pair.other.xattr(shown.inode, Self.tag) == [1])
    }
  }

  /// Whoever sets attributes alone takes no place of what others have written, and is no worse off for being told.
  @Test(arguments: ["mode", "time", "attribute"])
  func attributesOfWhatHasNoNameLeftAreRefused(what: String) throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.other.write("Emma/visit/new", "theirs")
    try pair.other.rename("Emma/visit/new", "Emma/visit/file")
    try pair.other.commitNow()
    pair.tree.refresh()
    #expect(throws: FileError.stale) { try setAttributes(what, of: handle, in: pair.tree) }
    handle.release()
    try pair.tree.commitNow()
    #expect(try pair.tree.text("Emma/visit/file") == "theirs")
    #expect(try pair.tree.list("Emma") == ["visit"])
  }

  @Test func attributesOfAFolderThatOthersHaveRemovedAreRefused() throws {
    let pair = try Pair()
    let visit = try pair.tree.find("Emma/visit")
    let member = try #require(pair.other.vault.members.first)
    let record = try #require(member.allEntries().first { $0.title.string == "visit" }).record
    try pair.other.unlink("Emma/visit/file")
    try pair.other.rmdir("Emma/visit")
    try pair.other.commitNow()
    pair.tree.refresh()
    #expect(throws: FileError.stale) {
      try pair.tree.setAttributes(visit, AttributeChange(mode: 0o750), through: nil)
    }
    #expect(throws: FileError.stale) {
      try pair.tree.setXattr(visit, Self.tag, [1], mode: .createOrReplace)
    }
    // Somebody restores it.
    let place = RecordPlace(parent: .root, title: try pair.tree.name("visit"))
    _ = try member.commit([RecordEdit(record: record, place: place)])
    pair.tree.refresh()
    _ = try pair.tree.setAttributes(visit, AttributeChange(mode: 0o750), through: nil)
    try pair.tree.commitNow()
    #expect(try pair.tree.stat("Emma/visit").mode == FileMode.directory | 0o750)
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  @Test func attributesOfAFileRemovedHereAreNobodysBusiness() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file")
    try pair.tree.unlink("Emma/visit/file")
    for what in ["mode", "time", "attribute"] {
      try setAttributes(what, of: handle, in: pair.tree)
    }
    #expect(try handle.attributes().mode & FileMode.permissionMask == 0o640)
    handle.release()
    try pair.tree.commitNow()
    #expect(try pair.tree.list("Emma/visit") == [])
  }

  /// The news comes while a commit has them, which fails.
  @Test func attributesOfAFolderThatACommitHasStayUnderNews() throws {
    let pair = try Pair()
    let tree = pair.tree
    let visit = try tree.find("Emma/visit")
    try tree.setXattr(visit, Self.tag, [1], mode: .create)
    let edits = tree.withTree { tree in
      tree.views.values.flatMap {
        $0.collectEdits(andTimesSince: ContinuousClock.now - .seconds(3600)).edits
      }
    }
    try #require(!edits.isEmpty)
    try pair.other.setXattr(pair.other.find("Emma/visit"), Self.tag, [2], mode: .create)
    try pair.other.commitNow()
    tree.refresh()
    #expect(try tree.xattr(visit, Self.tag) == [1])
    tree.withTree { tree in
      for view in tree.views.values { tree.giveBack(edits, [.member: .noSpace], of: view) }
    }
    try tree.commitNow()
    pair.other.refresh()
    #expect(try pair.other.xattr(pair.other.find("Emma/visit"), Self.tag) == [1])
    #expect(try pair.mounted.differencesFromFresh() == [])
  }

  /// A backup sets the time of access back after reading; others write meanwhile.
  @Test func whoSetsTheTimeOfAccessOverrulesNobody() throws {
    let pair = try Pair()
    let change = AttributeChange(accessed: .to(FileTimestamp(seconds: 1, nanoseconds: 0)))
    for path in ["Emma/visit", "Emma/visit/file"] {
      let shown = try pair.tree.setAttributes(pair.tree.find(path), change, through: nil)
      #expect(shown.accessed.seconds == 1)
    }
    let visit = try pair.other.find("Emma/visit")
    try pair.other.setXattr(visit, Self.tag, [1], mode: .create)
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.commitNow()
    try pair.tree.commitNow()
    pair.tree.refresh()
    #expect(try pair.tree.text("Emma/visit/file") == "theirs")
    #expect(try pair.tree.xattr(pair.tree.find("Emma/visit"), Self.tag) == [1])
    #expect(try pair.tree.list("Emma") == ["visit"])
  }

  @Test func aFileRemovedHereAndChangedElsewhereComesBackAsItIsNow() throws {
    let pair = try Pair()
    // The kernel goes on referring to what it looked up.
    _ = try pair.tree.find("Emma/visit/file")
    try pair.tree.unlink("Emma/visit/file")
    try pair.tree.commitNow()
    try pair.other.write("Emma/visit/new", "theirs")
    try pair.other.commitNow()
    // The other one takes the removed file back, as a conflict that is decided does.
    let member = try #require(pair.other.vault.members.first)
    let record = try #require(member.allEntries().first { $0.title.string == "visit" }).record
    let revisions = try member.history(of: record)
    let name = try #require(FileName("file"))
    let old = try revisions.lazy.compactMap { try member.items(of: $0.revision) }
      .compactMap { $0.first { $0.name == name } }.first
    var item = try #require(old)
    item.size = 5
    item.content = .inline(Array("other".utf8))
    _ = try member.commit([RecordEdit(record: record, items: [name: item])])
    pair.tree.refresh()
    #expect(try pair.tree.text("Emma/visit/file") == "other")
  }

  @Test func aFileFromElsewhereDoesNotHideBehindARecordOfItsName() throws {
    let pair = try Pair()
    try pair.tree.mkdir("Emma/visit/plan")
    #expect(try pair.tree.list("Emma/visit") == ["file", "plan"])
    try pair.other.write("Emma/visit/plan", "a file")
    try pair.other.commitNow()
    try pair.commitAndRefresh()
    let names = try pair.tree.list("Emma/visit")
    #expect(names.count == 3)
    #expect(try pair.tree.text("Emma/visit/plan") == "a file")
    #expect(names.contains { $0.hasPrefix("plan (") })
    try pair.other.unlink("Emma/visit/plan")
    try pair.bringNews()
    #expect(try pair.tree.list("Emma/visit") == ["file", "plan"])
  }

  @Test func whatNobodyTouchedHereIsSimplyReplaced() throws {
    let pair = try Pair()
    #expect(try pair.tree.text("Emma/visit/file") == "old")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.bringNews()
    #expect(try pair.tree.text("Emma/visit/file") == "theirs")
    try pair.tree.write("Emma/visit/file", "then mine")
    try pair.commitAndRefresh()
    #expect(try pair.tree.list("Emma") == ["visit"])
  }
}
