import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultFiles

/// A tree that is in use when its person's access ends, by its date or because they gave it up.
@Suite struct EndedAccessTests {
  private struct Shared {
    let mounted: MountedVault
    let device: MountedVault.OtherDevice
    let other: Vault
    let tree: FileTree
    /// Of the tree's person, in milliseconds since 1970.
    let now = TurnedClock(1_800_000_000_000)

    /// Emma is shared with the tree's person, who has a member of their own besides.
    init(_ role: Role, until: UInt64? = nil) throws {
      mounted = try MountedVault()
      try mounted.tree.mkdir("Emma")
      try mounted.tree.write("Emma/file", "text")
      try mounted.tree.commitNow()
      device = try mounted.inviteAnotherPerson(clock: now.wallClock)
      other = try device.open()
      try mounted.vault.share(
        #require(mounted.vault.members.first), with: other.person, role: role, until: until)
      _ = try other.refreshMembers()
      tree = FileTree.load(vault: other, options: mounted.options)
      try tree.mkdir("Liam")
      #expect(try tree.list("") == ["Emma", "Liam"])
    }

    /// Opens Emma's file, to which the person's access then ends.
    func openUntilTheEnd() throws -> FileHandle {
      let handle = try tree.open("Emma/file", [.read, .write])
      now.advance(to: 1_800_000_003_000)
      tree.refresh()
      return handle
    }

    /// Emma's owner gives the person access again, which shows.
    func shareAgain(_ role: Role) throws {
      try mounted.vault.share(
        #require(mounted.vault.members.first), with: other.person, role: role)
      tree.refresh()
      #expect(try tree.list("") == ["Emma", "Liam"])
      #expect(try tree.text("Emma/file") == "text")
    }
  }

  @Test func theMemberGoesWhenItsDateHasPassed() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    let handle = try tree.open("Emma/file", [.read, .write])
    defer { handle.release() }
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    #expect(try tree.list("") == ["Liam"])
    #expect(throws: FileError.notFound) { try tree.find("Emma") }
    // What is open is read to its end; nothing more is written.
    #expect(try handle.get(at: 0, count: 9) == Array("text".utf8))
    #expect(throws: FileError.self) { try tree.open("Emma/file", .read) }
    try tree.write("Liam/file", "mine")
    try tree.commitNow()
    #expect(try tree.text("Liam/file") == "mine")
    // To everyone else the grant counts until an owner has taken it away.
    #expect(try shared.mounted.vault.members.first?.accesses().count == 2)
    #expect(try shared.mounted.tree.text("Emma/file") == "text")
  }

  @Test func theMemberGoesWhenItsPersonHasLeftElsewhere() throws {
    let shared = try Shared(.editor)
    let process = try #require(shared.other.members.first { $0.name.string == "Emma" })
    try shared.other.leave(process)
    shared.tree.refresh()
    #expect(try shared.tree.list("") == ["Liam"])
  }

  @Test func whatWasNotSavedStaysUntilTheMountEnds() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    try tree.write("Emma/file", "changed")
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    // It can be copied elsewhere, and everyone who asks is told.
    #expect(try tree.list("") == ["Emma", "Liam"])
    #expect(try tree.text("Emma/file") == "changed")
    #expect(throws: FileError.readOnly) { try tree.commitNow() }
    #expect(tree.unsaved.map(\.extent) == [.member])
    #expect(throws: FileError.readOnly) { try tree.write("Emma/file", "more") }
    try tree.write("Liam/file", "mine")
    #expect(throws: FileError.readOnly) { try tree.commitNow() }
    let next = FileTree.load(vault: shared.other, options: shared.mounted.options)
    #expect(try next.list("") == ["Liam"])
    #expect(try next.text("Liam/file") == "mine")
  }

  /// A signal ends the mount all the same. What is too large for the redo file is lost, and named.
  @Test func whatWasNotSavedAtTheEndIsKeptAndNamed() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    try tree.write("Emma/file", "changed")
    try tree.write("Emma/large", [UInt8](repeating: 3, count: 200_000))
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    #expect(throws: FileError.readOnly) { try tree.stop() }
    let told = shared.other.problems.filter { $0.kind == .unfinished }.map(\.reason)
    #expect(told.count == 2)
    #expect(told.contains { $0.contains("kept here") && $0.contains("Emma/file") })
    #expect(told.contains { $0.contains("is lost: “Emma/large”") })
    try shared.other.close()

    let without = try shared.device.open()
    #expect(without.problems.contains { $0.kind == .unfinished })
    let events = try without.audit.read().events.map(\.event).filter { $0.action == "unsaved" }
    #expect(events.contains { $0.place == "Emma/file" && $0.detail.contains("kept") })
    #expect(events.contains { $0.place == "Emma/large" && $0.detail.contains("lost") })
    try without.close()
    try shared.mounted.vault.share(
      #require(shared.mounted.vault.members.first), with: shared.other.person, role: .editor)
    let again = try shared.device.open()
    let shown = FileTree.load(vault: again, options: shared.mounted.options)
    #expect(try shown.text("Emma/file") == "changed")
    #expect(try shown.list("Emma") == ["file"])
    #expect(!again.problems.contains { $0.kind == .unfinished })
  }

  /// A redo file's last record is all that counts of it.
  @Test func whatWasSyncedIsNotGivenUpForWhatWasNot() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    let handle = try tree.open("Emma/file", [.read, .write])
    try handle.put(Array("synced".utf8), at: 0)
    try handle.sync()
    try handle.put([UInt8](repeating: 3, count: 200_000), at: 0)
    handle.release()
    try tree.write("Emma/note", "never synced")
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    #expect(throws: FileError.readOnly) { try tree.stop() }
    #expect(shared.other.problems.contains { $0.reason.contains("is lost") })
    try shared.other.close()

    try shared.mounted.vault.share(
      #require(shared.mounted.vault.members.first), with: shared.other.person, role: .editor)
    let again = try shared.device.open()
    let shown = FileTree.load(vault: again, options: shared.mounted.options)
    #expect(try shown.text("Emma/file") == "synced")
  }

  @Test func whoHasAFileOpenIsToldThatItCannotBeSaved() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let handle = try shared.tree.open("Emma/file", [.read, .write])
    defer { handle.release() }
    shared.now.advance(to: 1_800_000_003_000)
    shared.tree.refresh()
    #expect(throws: FileError.readOnly) { try handle.put(Array("lost".utf8), at: 0) }
  }

  /// The kernel writes what a program has changed in a mapping when it pleases.
  @Test func pagesOfAMappingThatComeLaterAreKeptAndTold() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    let handle = try shared.openUntilTheEnd()
    #expect(try tree.list("") == ["Liam"])
    try handle.put(Array("page".utf8), at: 0, as: .ofMapping)
    handle.release()
    #expect(throws: FileError.readOnly) { try tree.commitNow() }
    #expect(tree.unsaved.map(\.extent) == [.member])
    tree.refresh()
    #expect(try tree.list("") == ["Emma", "Liam"])
    #expect(try tree.text("Emma/file") == "page")
  }

  @Test func pagesOfAMappingThatComeWhenAccessIsGivenAgainAreSaved() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    let handle = try shared.openUntilTheEnd()
    try shared.shareAgain(.editor)
    try handle.put(Array("page".utf8), at: 0, as: .ofMapping)
    handle.release()
    try tree.commitNow()
    #expect(tree.unsaved == [])
    tree.refresh()
    #expect(try tree.text("Emma/file") == "page")
    shared.mounted.tree.refresh()
    #expect(try shared.mounted.tree.text("Emma/file") == "page")
  }

  /// The member shows as its person may see it now, beside what is not saved of before.
  @Test func whatCannotBeSavedIsNotedOnceWhereAccessIsLessThanBefore() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    let handle = try shared.openUntilTheEnd()
    try shared.shareAgain(.viewer)
    try handle.put(Array("page".utf8), at: 0, as: .ofMapping)
    handle.release()
    for _ in 0..<3 { #expect(throws: FileError.self) { try tree.commitNow() } }
    #expect(tree.unsaved.map(\.extent) == [.member])
    try shared.other.audit.flush()
    let events = try shared.other.audit.read().events.map(\.event)
    #expect(events.filter { $0.action == "unsaved" }.map(\.count) == [1])
  }

  /// It goes past what a write is asked first.
  @Test func nothingIsCopiedIntoAFileThatCannotBeSaved() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    try tree.write("Emma/copy", "")
    try tree.commitNow()
    let source = try tree.open("Emma/file", .read)
    let target = try tree.open("Emma/copy", .write)
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    #expect(throws: FileError.readOnly) {
      try source.copyRange(at: 0, to: target, at: 0, length: 4)
    }
    source.release()
    target.release()
  }

  @Test func whatWasNotSavedIsSavedWhenAccessIsGivenAgain() throws {
    let shared = try Shared(.editor, until: 1_800_000_003_000)
    let tree = shared.tree
    try tree.write("Emma/file", "changed")
    shared.now.advance(to: 1_800_000_003_000)
    tree.refresh()
    #expect(throws: FileError.readOnly) { try tree.commitNow() }
    try shared.mounted.vault.share(
      #require(shared.mounted.vault.members.first), with: shared.other.person, role: .editor)
    tree.refresh()
    try tree.commitNow()
    #expect(tree.unsaved == [])
    tree.refresh()
    #expect(try tree.text("Emma/file") == "changed")
    try tree.write("Emma/file", "more")
    try tree.commitNow()
    shared.mounted.tree.refresh()
    #expect(try shared.mounted.tree.text("Emma/file") == "more")
  }
}
