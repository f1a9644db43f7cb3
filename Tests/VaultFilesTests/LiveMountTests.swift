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
}
