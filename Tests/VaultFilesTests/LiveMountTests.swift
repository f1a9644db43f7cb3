import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// A mount that runs shows what one shows that begins now, whoever committed.
@Suite struct LiveMountTests {
  @Test func showsWhatAnotherProcessOfTheDeviceHasJoined() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/k")
    try tree.mkdir("Emma/k/x")
    try tree.commitNow()
    let other = FileTree(vault: try mounted.openOnAnotherDevice(), options: mounted.options)
    // Neither knows of the other when it does this.
    try other.rmdir("Emma/k/x")
    try tree.mkdir("Emma/k/x/y")
    try tree.write("Emma/k/x/y/new", "saved")
    try tree.commitNow()
    try other.commitNow()
    let process = try mounted.openAgain()
    let command = FileTree(vault: process, options: mounted.options)
    try command.mkdir("Emma/made by a command")
    try command.commitNow()
    try process.close()

    tree.refresh()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.text("Emma/y/new") == "saved")
  }

  /// A record that another process has put into one that is removed here shows elsewhere.
  @Test func showsWhatAnotherProcessHasPutIntoAFolderThatIsRemovedHere() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    for path in ["Emma", "Emma/k"] { try tree.mkdir(path) }
    try tree.commitNow()
    try tree.rmdir("Emma/k")
    let process = try mounted.openAgain()
    let command = FileTree(vault: process, options: mounted.options)
    try command.mkdir("Emma/k/x")
    try command.write("Emma/k/x/new", "saved")
    try command.commitNow()
    try process.close()
    try tree.commitNow()
    #expect(try mounted.differencesFromFresh() == [])
    #expect(try tree.text("Emma/x/new") == "saved")
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

  @Test(arguments: LiveSchedule.seeds(24))
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
