import Testing
import VaultModel

@testable import Vault
@testable import VaultFiles

/// Whoever reads a member's journal is told which files somebody has deleted, and of nothing that programs do while they
/// save.
@Suite struct DeletedFileTests {
  private let mounted: MountedVault
  private var tree: FileTree { mounted.tree }

  init() throws {
    mounted = try MountedVault()
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/Visit")
    for name in ["card.png", "scan.pdf", "note.txt", ".~lock.note.txt#", "note.txt~"] {
      try tree.write("Emma/Visit/\(name)", name)
    }
    try tree.commitNow()
    try mounted.vault.audit.flush()
  }

  /// What was noted since as deleted: names of files, or of what is not one what else is said of it.
  private func deleted() throws -> [String] {
    try tree.commitNow()
    try mounted.vault.audit.flush()
    return try mounted.vault.audit.read().events.map(\.event).filter { $0.action == "delete" }
      .map { $0.name?.string ?? $0.detail }
  }

  @Test func aFileThatIsRemovedIsDeleted() throws {
    try tree.unlink("Emma/Visit/card.png")
    try tree.write("Emma/Visit/new", "in the same commit")
    #expect(try deleted() == ["card.png"])
    let written = try mounted.vault.audit.read().events.map(\.event).filter {
      $0.action == "write" && $0.name?.string == "new"
    }
    #expect(written.count == 1)
    // Everyone with access is told.
    let journals = try mounted.vault.audit.journals(checkingHeads: true)
    let event = try #require(
      mounted.vault.audit.read().events.map(\.event).first { $0.action == "delete" })
    #expect(journals.destination(of: event) != .none)
  }

  @Test func whatIsRenamedOrSavedAnewIsNot() throws {
    try tree.rename("Emma/Visit/card.png", "Emma/Visit/front.png")
    try tree.mkdir("Emma/Other")
    try tree.rename("Emma/Visit/scan.pdf", "Emma/Other/scan.pdf")
    try tree.write("Emma/Visit/note.txt.new", "another text")
    #expect(try deleted() == [])
    try tree.rename("Emma/Visit/note.txt.new", "Emma/Visit/note.txt")
    for name in [".~lock.note.txt#", "note.txt~"] { try tree.unlink("Emma/Visit/\(name)") }
    #expect(try deleted() == [])
  }

  /// As `tar` and `unzip` do over a file that is there: the new one is in no commit before it is closed.
  @Test func whatIsBeingReplacedIsNot() throws {
    try tree.unlink("Emma/Visit/card.png")
    let handle = try tree.create("Emma/Visit/card.png")
    #expect(try deleted() == [])
    try handle.put(Array("a better picture".utf8), at: 0)
    try handle.flush()
    handle.release()
    #expect(try deleted() == [])
    #expect(try tree.text("Emma/Visit/card.png") == "a better picture")
  }

  @Test func whatACrashLeftIsToldAfterIt() throws {
    try tree.unlink("Emma/Visit/card.png")
    try tree.syncDirectory(tree.find("Emma/Visit"))
    try mounted.crash()
    #expect(try tree.list("Emma/Visit").contains("scan.pdf"))
    #expect(try deleted() == ["card.png"])
  }

  @Test func ofManyItIsToldHowManyAndOfARecordThatIt() throws {
    for number in 0..<20 { try tree.write("Emma/Visit/\(number).png", "\(number)") }
    try tree.commitNow()
    for number in 0..<20 { try tree.unlink("Emma/Visit/\(number).png") }
    #expect(try deleted() == ["20 files"])
    for name in try tree.list("Emma/Visit") { try tree.unlink("Emma/Visit/\(name)") }
    try tree.rmdir("Emma/Visit")
    #expect(try deleted() == ["20 files", ""])
  }
}
