import Synchronization
import Testing
import VaultModel

@testable import Vault
@testable import VaultFiles

/// A tree that is in use when its person's access ends, by its date or because they gave it up.
@Suite struct EndedAccessTests {
  private struct Shared {
    let mounted: MountedVault
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
      other = try mounted.joinAsAnotherPerson(clock: now.wallClock)
      try mounted.vault.share(
        #require(mounted.vault.members.first), with: other.person, role: role, until: until)
      _ = try other.refreshMembers()
      tree = FileTree(vault: other, options: mounted.options)
      try tree.mkdir("Liam")
      #expect(try tree.list("") == ["Emma", "Liam"])
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
}

/// A clock that stands still until a test turns it.
private final class TurnedClock: Sendable {
  private let now: Mutex<UInt64>

  init(_ start: UInt64) { now = Mutex(start) }

  func advance(to time: UInt64) { now.withLock { $0 = time } }

  var wallClock: WallClock { WallClock { [self] in now.withLock { $0 } } }
}
