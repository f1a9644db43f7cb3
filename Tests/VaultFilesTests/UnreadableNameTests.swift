import BlobStore
import Testing
import Threads
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// A file that is being written has another name in a record that cannot be read for a while.
@Suite struct UnreadableNameTests {
  @Test func whatWasWrittenIsSavedWhenTheNameCanBeRead() throws {
    let mounted = try MountedVault()
    for path in ["Emma", "Emma/a", "Emma/c"] { try mounted.tree.mkdir(path) }
    try mounted.tree.write("Emma/a/f", "old")
    try mounted.remount()
    let tree = mounted.tree
    let handle = try tree.open("Emma/a/f")
    try mounted.command { try $0.link("Emma/a/f", "Emma/c/f") }
    tree.refresh()
    let member = try #require(mounted.vault.members.first)
    let entry = try #require(member.allEntries().first { $0.title.string == "c" })
    let store = try DirectoryStore(opening: mounted.folder)
    let path = member.objects.path(of: entry.revision)
    let bytes = try store.read(path, limit: 1 << 20)
    try store.remove(path)
    member.revisions.withLock { $0.remove(entry.revision) }
    try handle.put(Array("new".utf8), at: 0)
    for _ in 0..<2 { #expect(throws: FileError.inputOutput) { try handle.flush() } }
    try store.replace(path, bytes, durably: true)
    try handle.flush()
    handle.release()
    try mounted.remount()
    for path in ["Emma/a/f", "Emma/c/f"] { #expect(try mounted.tree.text(path) == "new") }
  }
}
