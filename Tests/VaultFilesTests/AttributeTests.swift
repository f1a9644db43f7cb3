import Testing
import VaultModel

@testable import VaultFiles

@Suite struct AttributeTests {
  @Test func modesTimesAndOwnersSurviveARemount() throws {
    let mounted = try MountedVault { $0.checksPermissions = false }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/visit")
    try tree.write("Emma/visit/file", "x")
    let time = FileTimestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789)
    let early = FileTimestamp(seconds: -5, nanoseconds: 1)
    _ = try tree.setAttributes(
      tree.find("Emma/visit/file"),
      AttributeChange(mode: 0o4750, uid: 77, gid: 1000, accessed: .to(early), modified: .to(time)),
      through: nil)
    _ = try tree.setAttributes(
      tree.find("Emma/visit"), AttributeChange(mode: 0o1700, modified: .to(early)), through: nil)
    #expect(try tree.stat("Emma/visit/file").accessed == early)
    try mounted.remount()
    let file = try mounted.tree.stat("Emma/visit/file")
    #expect(file.mode == FileMode.regular | 0o4750)
    #expect(file.modified == time)
    #expect(file.uid == 77)
    #expect(file.gid == 1000)
    let directory = try mounted.tree.stat("Emma/visit")
    #expect(directory.mode == FileMode.directory | 0o1700)
    #expect(directory.modified == early)
  }

  @Test func extendedAttributesSurviveARemount() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/file", "x")
    let name = Array("user.origin".utf8)
    for path in ["Emma", "Emma/file"] {
      let inode = try tree.find(path)
      try tree.setXattr(inode, name, [1, 2], mode: .create)
      try tree.setXattr(inode, Array("user.a".utf8), [], mode: .createOrReplace)
      #expect(throws: FileError.alreadyExists) { try tree.setXattr(inode, name, [], mode: .create) }
      #expect(throws: FileError.noAttribute) {
        try tree.setXattr(inode, Array("user.none".utf8), [], mode: .replace)
      }
      #expect(throws: FileError.notSupported) {
        try tree.setXattr(inode, Array("trusted.x".utf8), [], mode: .create)
      }
      #expect(throws: FileError.attributesTooLarge) {
        try tree.setXattr(inode, name, [UInt8](repeating: 0, count: 65_536), mode: .replace)
      }
    }
    try mounted.remount()
    for path in ["Emma", "Emma/file"] {
      let inode = try mounted.tree.find(path)
      #expect(try mounted.tree.xattr(inode, name) == [1, 2])
      #expect(try mounted.tree.xattrNames(inode) == [Array("user.a".utf8), name])
      try mounted.tree.removeXattr(inode, name)
      #expect(throws: FileError.noAttribute) { try mounted.tree.xattr(inode, name) }
    }
  }

  /// Whoever else writes lends nobody the owner's rights; root does as the owner.
  @Test func setuidAndSetgidGoWhenSomebodyElseWrites() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    for (uid, mode) in [(UInt32(0), UInt32(0o6777)), (2000, 0o777)] {
      try tree.write("Emma/program", "x")
      let inode = try tree.find("Emma/program")
      _ = try tree.setAttributes(inode, AttributeChange(mode: 0o6777), through: nil)
      let handle = try tree.open("Emma/program")
      try handle.put([1], at: 0, by: Caller(uid: uid, gid: uid))
      handle.release()
      #expect(try tree.stat("Emma/program").mode & 0o7777 == mode)
      _ = try tree.setAttributes(inode, AttributeChange(mode: 0o6777), through: nil)
      let cut = try tree.open("Emma/program")
      try cut.truncate(to: 0, by: Caller(uid: uid, gid: uid))
      cut.release()
      #expect(try tree.stat("Emma/program").mode & 0o7777 == mode)
    }
  }

  @Test func permissionBitsHoldForTheOwner() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/closed")
    try tree.write("Emma/file", "x")
    try tree.write("Emma/closed/inside", "x")
    _ = try tree.setAttributes(tree.find("Emma/file"), AttributeChange(mode: 0o444), through: nil)
    _ = try tree.setAttributes(tree.find("Emma/closed"), AttributeChange(mode: 0o555), through: nil)
    #expect(throws: FileError.accessDenied) { try tree.open("Emma/file", [.write]) }
    #expect(throws: FileError.accessDenied) { try tree.create("Emma/closed/new") }
    #expect(throws: FileError.accessDenied) { try tree.unlink("Emma/closed/inside") }
    #expect(throws: FileError.notPermitted) {
      try tree.setAttributes(tree.find("Emma/file"), AttributeChange(uid: 1), through: nil)
    }
    #expect(try tree.text("Emma/file") == "x")
  }

  @Test func truncatingByNameChangesTheContent() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/file", "longer text")
    let after = try tree.setAttributes(
      tree.find("Emma/file"), AttributeChange(size: 6), through: nil)
    #expect(after.size == 6)
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/file") == "longer")
  }

  @Test func directoryTimesChangeWithTheirNames() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    let old = FileTimestamp(seconds: 1, nanoseconds: 0)
    let emma = try tree.find("Emma")
    for action: () throws -> Void in [
      { try tree.mkdir("Emma/a") }, { try tree.rmdir("Emma/a") },
      { try tree.write("Emma/f", "x") }, { try tree.rename("Emma/f", "Emma/g") },
      { try tree.unlink("Emma/g") },
    ] {
      _ = try tree.setAttributes(emma, AttributeChange(modified: .to(old)), through: nil)
      try action()
      #expect(try tree.attributes(emma).modified > old)
    }
  }

  /// A program has it open. What it sets goes with it, and keeps nothing else from being saved.
  @Test func attributesOfAFolderThatNoCommitHasHeardOfAreNoFailure() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/made")
    let made = try tree.find("Emma/made")
    try tree.rmdir("Emma/made")
    let shown = try tree.setAttributes(made, AttributeChange(mode: 0o750), through: nil)
    #expect(shown.mode == FileMode.directory | 0o750)
    try tree.setXattr(made, Array("user.tag".utf8), [1], mode: .create)
    #expect(throws: Never.self) { try tree.commitNow() }
    #expect(tree.unsaved.isEmpty)
  }

  @Test func aReadOnlyVaultRefusesEveryChange() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.write("Emma/file", "x")
    try mounted.tree.commitNow()
    let tree = try mounted.mountAgain(readOnly: true)
    #expect(try tree.text("Emma/file") == "x")
    #expect(throws: FileError.readOnly) { try tree.mkdir("Liam") }
    #expect(throws: FileError.readOnly) { try tree.mkdir("Emma/a") }
    #expect(throws: FileError.readOnly) { try tree.write("Emma/new", "x") }
    #expect(throws: FileError.readOnly) { try tree.open("Emma/file") }
    #expect(throws: FileError.readOnly) { try tree.unlink("Emma/file") }
    #expect(throws: FileError.readOnly) { try tree.rename("Emma/file", "Emma/b") }
    #expect(throws: FileError.readOnly) {
      try tree.setAttributes(tree.find("Emma/file"), AttributeChange(mode: 0), through: nil)
    }
    try tree.stop()
  }
}
