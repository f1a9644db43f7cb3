import Testing
import Vault
import VaultModel

@testable import VaultFiles

@Suite struct NameTests {
  @Test func directoriesAtTheTopAreMembers() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Liam")
    #expect(try mounted.tree.list("") == ["Emma", "Liam"])
    #expect(mounted.vault.members.map(\.name.string) == ["Emma", "Liam"])
    #expect(throws: FileError.alreadyExists) { try mounted.tree.mkdir("Emma") }
    #expect(throws: FileError.notPermitted) { try mounted.tree.rmdir("Emma") }
    #expect(throws: FileError.accessDenied) { try mounted.tree.write("note.txt", "x") }
    try mounted.tree.rename("Liam", "Noah")
    #expect(try mounted.tree.list("") == ["Emma", "Noah"])
    try mounted.remount()
    #expect(try mounted.tree.list("") == ["Emma", "Noah"])
  }

  @Test func directoriesAndFilesSurviveARemount() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/Vaccines")
    try mounted.tree.mkdir("Emma/Vaccines/2025-01-20 COVID-19")
    try mounted.tree.write(
      "Emma/Vaccines/2025-01-20 COVID-19/record.md", "---\ntype: vaccine\n---\n")
    try mounted.tree.write("Emma/Vaccines/2025-01-20 COVID-19/card.jpg", "scan")
    _ = try mounted.tree.symlink(
      mounted.tree.find("Emma"), FileName("link")!, target: Array("Vaccines".utf8))
    _ = try mounted.tree.makeNode(
      mounted.tree.find("Emma"), FileName("pipe")!, mode: FileMode.fifo | 0o600)
    let inode = try mounted.tree.find("Emma/Vaccines/2025-01-20 COVID-19/card.jpg")
    try mounted.remount()
    let tree = mounted.tree
    #expect(try tree.list("Emma") == ["Vaccines", "link", "pipe"])
    #expect(
      try tree.text("Emma/Vaccines/2025-01-20 COVID-19/record.md") == "---\ntype: vaccine\n---\n")
    #expect(try tree.text("Emma/Vaccines/2025-01-20 COVID-19/card.jpg") == "scan")
    #expect(try tree.readLink(tree.find("Emma/link")) == Array("Vaccines".utf8))
    #expect(try tree.stat("Emma/pipe").type == FileMode.fifo)
    #expect(try tree.find("Emma/Vaccines/2025-01-20 COVID-19/card.jpg") == inode)
    let member = mounted.vault.members[0]
    let entry = try #require(member.allEntries().first { $0.type == "vaccine" })
    let items = try member.items(of: member.revision(entry.revision))
    #expect(items.map(\.mediaType).sorted() == ["image/jpeg", "text/markdown"])
  }

  @Test func namesAreChecked() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/file", "x")
    #expect(throws: FileError.nameTooLong) {
      try tree.mkdir("Emma/" + String(repeating: "n", count: 256))
    }
    try tree.mkdir("Emma/" + String(repeating: "n", count: 255))
    #expect(throws: FileError.alreadyExists) { try tree.mkdir("Emma/file") }
    #expect(throws: FileError.notDirectory) { try tree.mkdir("Emma/file/inside") }
    #expect(throws: FileError.notFound) { try tree.stat("Emma/nothing") }
    #expect(throws: FileError.isDirectory) {
      try tree.unlink("Emma/" + String(repeating: "n", count: 255))
    }
    #expect(throws: FileError.notDirectory) { try tree.rmdir("Emma/file") }
  }

  @Test func onlyEmptyDirectoriesAreRemoved() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/a")
    try tree.write("Emma/a/file", "x")
    #expect(throws: FileError.notEmpty) { try tree.rmdir("Emma/a") }
    try tree.unlink("Emma/a/file")
    let inode = try tree.find("Emma/a")
    try tree.rmdir("Emma/a")
    #expect(try tree.list("Emma") == [])
    #expect(try tree.attributes(inode).linkCount == 0)
    #expect(throws: FileError.notFound) {
      try tree.makeDirectory(inode, FileName("b")!, mode: 0o700)
    }
    try mounted.remount()
    #expect(try mounted.tree.list("Emma") == [])
  }

  @Test func whatWasCreatedAndRemovedLeavesNoTrace() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.commitNow()
    let member = mounted.vault.members[0]
    let entries = member.allEntries().count
    try tree.write("Emma/temporary", "x")
    try tree.mkdir("Emma/gone")
    try tree.unlink("Emma/temporary")
    try tree.rmdir("Emma/gone")
    try tree.commitNow()
    #expect(member.allEntries().count == entries)
    let root = try #require(member.entry(.root))
    #expect(try member.items(of: member.revision(root.revision)).isEmpty)
  }

  @Test func linkCountsOfDirectoriesCountTheirDirectories() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/a")
    try tree.mkdir("Emma/b")
    try tree.write("Emma/file", "x")
    #expect(try tree.stat("Emma").linkCount == 4)
    #expect(try tree.stat("").linkCount == 3)
    try mounted.remount()
    #expect(try mounted.tree.stat("Emma").linkCount == 4)
  }

  /// Whoever hears of an error takes no entry, and would not give back the references that are counted for them.
  @Test func anErrorBehindEntriesComesWithTheNextReading() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    for folder in ["Emma", "Emma/visit"] { try tree.mkdir(folder) }
    for name in ["one", "two"] { try tree.write("Emma/visit/\(name)", name) }
    let visit = try tree.find("Emma/visit")
    let handle = try tree.openDirectory(visit)
    var taken: [String] = []
    try handle.readWithAttributes(from: 0) { entry, _ in
      taken.append(String(decoding: entry.name, as: UTF8.self))
      if taken.last == "one" { closeForAll(visit, in: tree) }
      return true
    }
    #expect(taken == [".", "..", "one"])
    #expect(throws: FileError.accessDenied) {
      try handle.readWithAttributes(from: 3) { _, _ in true }
    }
    handle.release()
  }

  private func closeForAll(_ inode: Inode, in tree: FileTree) {
    #expect(throws: Never.self) {
      _ = try tree.setAttributes(inode, AttributeChange(mode: 0), through: nil)
    }
  }

  @Test func readingWithAttributesCountsReferences() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    for number in 0..<10 { try tree.write("Emma/\(number)", "x") }
    try mounted.remount()
    let again = mounted.tree
    let inode = try again.find("Emma")
    let handle = try again.openDirectory(inode)
    var taken: [(String, Inode)] = []
    var cookie: UInt64 = 0
    while true {
      var count = 0
      try handle.readWithAttributes(from: cookie) { entry, attributes in
        guard count < 4 else { return false }
        count += 1
        cookie = entry.nextCookie
        #expect(entry.inode == attributes.inode)
        taken.append((String(decoding: entry.name, as: UTF8.self), attributes.inode))
        return true
      }
      if count == 0 { break }
    }
    handle.release()
    #expect(taken.map(\.0) == [".", ".."] + (0..<10).map(String.init))
    for (_, file) in taken.dropFirst(2) {
      #expect(try again.attributes(file).size == 1)
      again.forget(file, 1)
      #expect(throws: FileError.stale) { try again.attributes(file) }
    }
  }
}
