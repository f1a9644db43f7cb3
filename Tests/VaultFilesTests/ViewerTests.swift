import Testing
import VaultModel

@testable import Vault
@testable import VaultFiles

/// What a mount shows of members that its person may only read.
@Suite struct ViewerTests {
  /// Emma, whom the tree's person is a viewer of, and Liam, who is their own.
  private func tree(_ mounted: MountedVault) throws -> FileTree {
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/visit")
    try mounted.tree.write("Emma/visit/file", "text")
    try mounted.tree.commitNow()
    let other = try mounted.joinAsAnotherPerson()
    let emma = try #require(mounted.vault.members.first)
    try mounted.vault.share(emma, with: other.person, role: .viewer)
    _ = try other.refreshMembers()
    let tree = FileTree.load(vault: other, options: mounted.options)
    try tree.mkdir("Liam")
    return tree
  }

  @Test func isReadOnlyWhereItsPersonIsAViewerAndWritableElsewhere() throws {
    let mounted = try MountedVault()
    let tree = try tree(mounted)
    #expect(try tree.list("") == ["Emma", "Liam"])
    #expect(try tree.text("Emma/visit/file") == "text")
    let attempts: [(String, () throws(FileError) -> Void)] = [
      ("mkdir", { () throws(FileError) in try tree.mkdir("Emma/new") }),
      ("create", { () throws(FileError) in try tree.write("Emma/visit/new", "x") }),
      ("write", { () throws(FileError) in try tree.write("Emma/visit/file", "x") }),
      ("open", { () throws(FileError) in _ = try tree.open("Emma/visit/file") }),
      ("unlink", { () throws(FileError) in try tree.unlink("Emma/visit/file") }),
      ("rmdir", { () throws(FileError) in try tree.rmdir("Emma/visit") }),
      ("rename", { () throws(FileError) in try tree.rename("Emma/visit", "Emma/other") }),
      ("rename it", { () throws(FileError) in try tree.rename("Emma", "Emily") }),
      ("link", { () throws(FileError) in try tree.link("Emma/visit/file", "Emma/visit/two") }),
      (
        "chmod",
        { () throws(FileError) in
          _ = try tree.setAttributes(
            tree.find("Emma/visit/file"), AttributeChange(mode: 0o600), through: nil)
        }
      ),
    ]
    for (name, attempt) in attempts {
      #expect(throws: FileError.readOnly, "\(name)") { try attempt() }
    }
    try tree.write("Liam/file", "mine")
    try tree.commitNow()
    #expect(try tree.text("Liam/file") == "mine")
    #expect(try tree.text("Emma/visit/file") == "text")
  }

  @Test func goesOnShowingWhatEditorsChange() throws {
    let mounted = try MountedVault()
    let tree = try tree(mounted)
    #expect(try tree.text("Emma/visit/file") == "text")
    try mounted.tree.write("Emma/visit/file", "newer")
    try mounted.tree.commitNow()
    tree.refresh()
    #expect(try tree.text("Emma/visit/file") == "newer")
  }
}
