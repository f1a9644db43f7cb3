import Testing
import Vault
import VaultModel

@testable import VaultFiles

@Suite struct RenameTests {
  private func mounted() throws -> MountedVault {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Liam")
    try tree.mkdir("Emma/a")
    try tree.mkdir("Emma/a/inner")
    try tree.mkdir("Emma/b")
    try tree.write("Emma/a/file", "a")
    try tree.write("Emma/b/file", "b")
    try tree.commitNow()
    return mounted
  }

  /// What is in Emma's folder, and whether the revision itself holds the content.
  private func contents(of mounted: MountedVault) throws -> [(name: FileName, isInline: Bool)] {
    let member = try #require(mounted.vault.members.first { $0.name.string == "Emma" })
    let root = try #require(member.entry(.root))
    return try member.items(of: member.revision(root.revision)).map { item in
      let isInline = if case .inline = item.content { true } else { false }
      return (name: item.name, isInline: isInline)
    }
  }

  @Test func movesFilesAndDirectoriesBetweenDirectories() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.rename("Emma/a/file", "Emma/b/moved")
    try tree.rename("Emma/a/inner", "Emma/b/deeper")
    for tree in [
      tree,
      try {
        try mounted.remount(); return mounted.tree
      }(),
    ] {
      #expect(try tree.list("Emma/a") == [])
      #expect(try tree.list("Emma/b") == ["deeper", "file", "moved"])
      #expect(try tree.text("Emma/b/moved") == "a")
    }
  }

  @Test func replacesFilesAndEmptyDirectories() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.rename("Emma/a/file", "Emma/b/file")
    #expect(try tree.text("Emma/b/file") == "a")
    try tree.mkdir("Emma/empty")
    try tree.rename("Emma/b", "Emma/empty")
    #expect(throws: FileError.notEmpty) { try tree.rename("Emma/a", "Emma/empty") }
    try tree.write("Emma/plain", "x")
    #expect(throws: FileError.isDirectory) { try tree.rename("Emma/plain", "Emma/empty") }
    #expect(throws: FileError.notDirectory) { try tree.rename("Emma/empty", "Emma/plain") }
    try mounted.remount()
    #expect(try mounted.tree.list("Emma") == ["a", "empty", "plain"])
    #expect(try mounted.tree.text("Emma/empty/file") == "a")
  }

  @Test func exchangesAFileAndADirectory() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.rename("Emma/a", "Emma/b/file", .exchange)
    #expect(try tree.text("Emma/a") == "b")
    #expect(try tree.text("Emma/b/file/file") == "a")
    #expect(throws: FileError.notFound) { try tree.rename("Emma/a", "Emma/none", .exchange) }
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/a") == "b")
    #expect(try mounted.tree.list("Emma/b/file") == ["file", "inner"])
  }

  @Test func refusesWhatCannotBe() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    #expect(throws: FileError.alreadyExists) {
      try tree.rename("Emma/a/file", "Emma/b/file", .noReplace)
    }
    #expect(throws: FileError.invalidArgument) { try tree.rename("Emma/a", "Emma/a/inner/x") }
    #expect(throws: FileError.crossDevice) { try tree.rename("Emma/a/file", "Liam/file") }
    #expect(throws: FileError.crossDevice) { try tree.rename("Emma/a", "Liam/a") }
    #expect(throws: FileError.accessDenied) { try tree.rename("Emma/a/file", "file") }
    #expect(throws: FileError.notEmpty) { try tree.rename("Emma", "Liam") }
    #expect(throws: FileError.notFound) { try tree.rename("Emma/none", "Emma/some") }
  }

  /// Format.md, "Limits": a writer makes no record deeper than 1,000.
  @Test func nothingInAFolderComesToStandTooDeep() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    var chains: [[Inode]] = []
    for top in ["deep", "other"] {
      var chain = [try tree.makeDirectory(tree.find("Emma"), tree.name(top), mode: 0o755).inode]
      for _ in 1..<600 {
        chain.append(
          try tree.makeDirectory(chain[chain.count - 1], tree.name("x"), mode: 0o755).inode)
      }
      chains.append(chain)
    }
    let (emma, name, moved) = (try tree.find("Emma"), try tree.name("other"), try tree.name("y"))
    // The root of the member, 400 of one chain, 600 of the other.
    #expect(throws: FileError.invalidArgument) {
      try tree.rename(emma, name, to: chains[0][399], moved, mode: .replace)
    }
    try tree.rename(emma, name, to: chains[0][398], moved, mode: .replace)
    #expect(throws: FileError.nameTooLong) {
      _ = try tree.makeDirectory(chains[1][599], name, mode: 0o755)
    }
    try tree.rename(chains[0][398], moved, to: chains[0][398], name, mode: .replace)
    try tree.rename(chains[0][398], name, to: emma, name, mode: .replace)
    #expect(try tree.list("Emma") == ["a", "b", "deep", "other"])
  }

  @Test func exchangedFilesHaveTheTypesOfTheirNewNames() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.write("Emma/photo.jpg", "a text after all")
    try tree.write("Emma/note.txt", "a photo after all")
    try tree.rename("Emma/photo.jpg", "Emma/note.txt", .exchange)
    try tree.commitNow()
    let member = try #require(mounted.vault.members.first { $0.name.string == "Emma" })
    let root = try #require(member.entry(.root))
    let types = try member.items(of: member.revision(root.revision)).map {
      "\($0.name.string) \($0.mediaType)"
    }
    #expect(types.sorted() == ["note.txt text/plain", "photo.jpg image/jpeg"])
  }

  @Test func aRenamedFileHasItsContentAfterACrash() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    let handle = try tree.create("Emma/a/.tmp")
    try handle.put(Array("whole".utf8), at: 0)
    try tree.rename("Emma/a/.tmp", "Emma/a/file")
    try tree.syncDirectory(tree.find("Emma/a"))
    try mounted.remount(committing: false)
    #expect(try mounted.tree.text("Emma/a/file") == "whole")
    handle.release()
  }

  @Test func hardLinksShareContentAndAttributes() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.link("Emma/a/file", "Emma/b/linked")
    try tree.link("Emma/a/file", "Emma/a/again")
    #expect(try tree.stat("Emma/a/file").linkCount == 3)
    #expect(throws: FileError.crossDevice) { try tree.link("Emma/a/file", "Liam/linked") }
    try mounted.remount()
    let again = mounted.tree
    #expect(try again.stat("Emma/b/linked").linkCount == 3)
    #expect(try again.find("Emma/a/file") == again.find("Emma/b/linked"))
    try again.write("Emma/b/linked", "changed")
    _ = try again.setAttributes(
      again.find("Emma/a/again"), AttributeChange(mode: 0o640), through: nil)
    #expect(try again.text("Emma/a/file") == "changed")
    try again.unlink("Emma/a/again")
    try mounted.remount()
    let last = mounted.tree
    #expect(try last.text("Emma/a/file") == "changed")
    #expect(try last.stat("Emma/a/file").linkCount == 2)
    #expect(try last.stat("Emma/b/linked").mode == FileMode.regular | 0o640)
    try last.unlink("Emma/a/file")
    #expect(try last.stat("Emma/b/linked").linkCount == 1)
    try mounted.remount()
    #expect(try mounted.tree.stat("Emma/b/linked").linkCount == 1)
    #expect(try mounted.tree.text("Emma/b/linked") == "changed")
  }

  @Test func noteRenamedAwayKeepsItsText() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.write("Emma/record.md", "the note")
    try tree.commitNow()
    try tree.rename("Emma/record.md", "Emma/record.md~")
    try tree.write("Emma/record.md", "another")
    try mounted.remount()
    #expect(try mounted.tree.text("Emma/record.md~") == "the note")
    #expect(try mounted.tree.text("Emma/record.md") == "another")
    for (name, isInline) in try contents(of: mounted) { #expect(isInline == (name == .record)) }
  }

  @Test func aNotesTextUnderAnotherNameIsAnObject() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    let handle = try tree.create("Emma/record.md")
    try handle.put(Array("not closed yet".utf8), at: 0)
    try tree.rename("Emma/record.md", "Emma/renamed")
    handle.release()
    try tree.write("Emma/record.md", "the note")
    try tree.link("Emma/record.md", "Emma/linked")
    try tree.commitNow()
    #expect(try tree.text("Emma/renamed") == "not closed yet")
    #expect(try tree.text("Emma/linked") == "the note")
    for (name, isInline) in try contents(of: mounted) { #expect(!isInline, "\(name)") }
  }

  @Test func aNameThatIsTakenHasNothingSealed() throws {
    let mounted = try mounted()
    let tree = mounted.tree
    try tree.write("Emma/record.md", "the note")
    try tree.write("Emma/taken", "taken")
    #expect(throws: FileError.alreadyExists) { try tree.link("Emma/record.md", "Emma/taken") }
    try tree.commitNow()
    let note = try #require(contents(of: mounted).first { $0.name == .record })
    #expect(note.isInline)
  }
}
