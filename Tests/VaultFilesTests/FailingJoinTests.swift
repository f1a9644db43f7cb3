import TestSupport
import Testing
import Vault
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// A mount that cannot join what came, as on a full disk, shows it all the same.
@Suite struct FailingJoinTests {
  @Test func whatCameIsShownThoughItCannotBeJoined() throws {
    let devices = try ApartDevices { tree in
      try tree.mkdir("Emma")
      try tree.mkdir("Emma/Base")
      try tree.write("Emma/Base/note", "base")
    }
    let tree = devices.here.tree
    try tree.write("Emma/Base/note", "here")
    try tree.commitNow()
    try devices.there.write("Emma/Base/note", "there")
    try devices.there.mkdir("Emma/News")
    try devices.there.write("Emma/News/new", "from there")
    try devices.there.commitNow()
    try devices.bringHere()

    let lock = try CommitLock(of: devices.here)
    try lock.block()
    for _ in 0..<3 { tree.refresh() }
    #expect(try tree.text("Emma/News/new") == "from there")
    #expect(try ["here", "there"].contains(tree.text("Emma/Base/note")))
    let fresh = try devices.here.mountAgain(readOnly: true)
    #expect(try fresh.text("Emma/Base/note") == tree.text("Emma/Base/note"))

    try lock.free()
    tree.refresh()
    #expect(try Set(tree.list("Emma")) == ["Base", "News", "Offline Sync Conflicts"])
    let member = try #require(devices.here.vault.members.first).id
    try devices.here.vault.audit.flush()
    let events = try devices.here.vault.audit.read().events.map(\.event)
    // Once for as long as it fails, and not at each look.
    #expect(events.count { $0.action == "unsaved" && $0.member == member } == 1)
  }
}

/// The lock that every commit of a device takes, as a place where no file can be opened.
private struct CommitLock {
  private let path: FilePath
  private let aside: FilePath

  init(of mounted: MountedVault) throws {
    let vault = try Vault.describe(folder: mounted.folder).vault
    path = mounted.stateRoot.appending(vault.hex).appending("commit-lock")
    aside = path.removingLastComponent().appending("commit-lock.aside")
  }

  func block() throws {
    try run("mv", path.string, aside.string)
    try run("mkdir", path.string)
  }

  func free() throws {
    try run("rmdir", path.string)
    try run("mv", aside.string, path.string)
  }

  private func run(_ command: String, _ arguments: String...) throws {
    let done = try CommandRunner.run(command, arguments)
    try #require(done.status == 0, "\(done.errors)")
  }
}
