import Glibc
import TestSupport
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// A mount that runs shows what one shows that begins now, whoever committed.
@Suite struct LiveMountTests {
  @Test func showsWhatAnotherProcessOfTheDeviceHasJoined() throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/k", "Emma/k/x"] { try tree.mkdir(path) }
    }
    let tree = mounted.tree
    let other = try mounted.mountOnAnotherDevice()
    // Neither knows of the other when it does this.
    try other.rmdir("Emma/k/x")
    try tree.mkdir("Emma/k/x/y")
    try tree.write("Emma/k/x/y/new", "saved")
    try tree.commitNow()
    try other.commitNow()
    try mounted.command { try $0.mkdir("Emma/made by a command") }

    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.text("Emma/y/new") == "saved")
  }

  /// A record that another process has put into one that is removed here shows elsewhere.
  @Test func showsWhatAnotherProcessHasPutIntoAFolderThatIsRemovedHere() throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/k"] { try tree.mkdir(path) }
    }
    let tree = mounted.tree
    try tree.rmdir("Emma/k")
    try mounted.command { command in
      try command.mkdir("Emma/k/x")
      try command.write("Emma/k/x/new", "saved")
    }
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.text("Emma/x/new") == "saved")
  }

  /// Such as that of a program's lock, which two have made at once.
  @Test(arguments: ["remove", "rename", "exchange", "be exchanged"])
  func aNameThatGoesBeforeACommitHasItIsLeftToOthers(how: String) throws {
    let mounted = try MountedVault.prepared { try $0.mkdir("Emma") }
    let tree = mounted.tree
    try tree.write("Emma/x", "ours")
    try mounted.command { try $0.write("Emma/x", "theirs") }
    tree.refresh()
    #expect(try tree.text("Emma/x") == "ours")
    switch how {
    case "remove": try tree.unlink("Emma/x")
    case "rename": try tree.rename("Emma/x", "Emma/y")
    default:
      // A folder has the name from now on, and no file.
      try tree.mkdir("Emma/y")
      let paths = how == "exchange" ? ("Emma/x", "Emma/y") : ("Emma/y", "Emma/x")
      try tree.rename(paths.0, paths.1, .exchange)
    }
    tree.refresh()
    #expect(try tree.text("Emma/x") == "theirs")
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// Whose write failed has written nothing.
  @Test func aWriteThatFailedOverrulesNobody() throws {
    let mounted = try MountedVault.prepared { tree in
      try tree.mkdir("Emma")
      try tree.write("Emma/scan", [UInt8](repeating: 3, count: 200_000))
    }
    let tree = mounted.tree
    // A write into the midst of the chunk needs the rest of it.
    #expect(system("find '\(mounted.folder)/members' -type f -size +100k -delete") == 0)
    let handle = try tree.open("Emma/scan")
    #expect(throws: FileError.inputOutput) { try handle.put([1], at: 5) }
    try mounted.command { try $0.write("Emma/scan", "theirs") }
    tree.refresh()
    #expect(try tree.text("Emma/scan") == "theirs")
    try handle.flush()
    handle.release()
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.text("Emma/scan") == "theirs")
  }

  /// Of two records of one name one goes away, and the other has the name for itself. (Seed 365 of a campaign.)
  @Test(arguments: ["remove", "rename"]) func aNameThatIsFreeIsTakenAgain(how: String) throws {
    let mounted = try MountedVault.prepared { try $0.mkdir("Emma") }
    let tree = mounted.tree
    let other = try mounted.mountOnAnotherDevice()
    try tree.mkdir("Emma/c")
    try other.mkdir("Emma/c")
    try tree.commitNow()
    try other.commitNow()
    tree.refresh()
    #expect(try tree.list("Emma").count == 2)
    try how == "remove" ? tree.rmdir("Emma/c") : tree.rename("Emma/c", "Emma/d")
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.list("Emma").contains("c"))
  }

  /// The kernel forgets a file and asks for it again before a commit has its new mode.
  @Test func keepsAModeThatNoCommitHasYet() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/f", "text")
    try tree.commitNow()
    let inode = try tree.find("Emma/f")
    _ = try tree.setAttributes(inode, AttributeChange(mode: 0o600), through: nil)
    tree.forget(inode, 1_000_000)
    #expect(try tree.stat("Emma/f").mode & 0o777 == 0o600)
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.stat("Emma/f").mode & 0o777 == 0o600)
  }

  /// It is there again with the commit, and holds what others have left in it. (Seed 9034 of a campaign.)
  @Test(arguments: [false, true])
  func aMovedFolderThatOthersHaveRemovedShowsWhatTheyLeft(showsNewsFirst: Bool) throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/k"] { try tree.mkdir(path) }
      try tree.write("Emma/k/x", "removed elsewhere")
    }
    let tree = mounted.tree
    let other = try mounted.mountOnAnotherDevice()
    try tree.rename("Emma/k", "Emma/moved")
    try other.unlink("Emma/k/x")
    try other.rmdir("Emma/k")
    try other.commitNow()
    if showsNewsFirst { tree.refresh() }
    try tree.commitNow()
    #expect(try tree.list("Emma/moved") == [])
    #expect(try mounted.differencesFromFresh() == [])
  }

  /// Three with programs that have files open all the time.
  @Test(arguments: Seeds.first(24, widened: 3, unless: "KINVAULT_LIVE_SEEDS"))
  func showsWhatAFreshOneDoes(seed: UInt64) throws {
    var schedule = try LiveSchedule(seed: seed)
    for _ in 0..<30 {
      try schedule.step()
      let differences = try schedule.differences()
      guard differences.isEmpty else {
        let story = (schedule.trace + differences).joined(separator: "\n")
        Issue.record("KINVAULT_SEED=\(seed)\n\(story)")
        return
      }
    }
  }
}
