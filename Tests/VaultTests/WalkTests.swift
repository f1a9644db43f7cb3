import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// All who walk over the objects of a member agree on what its records need.
@Suite struct WalkTests {
  private let memory: MemoryVault
  private let vault: Vault
  private let emma: Member

  init() throws {
    (memory, vault, emma) = try MemoryVault.withEmma()
  }

  private func newKeys() -> EpochKeys {
    let key = FamilyMemberKey.random()
    return EpochKeys(key, member: emma.id, binding: emma.context.binding)
  }

  private func visited(_ revision: ContentDigest, of record: RecordID) -> [VisitedObject] {
    var visited: [VisitedObject] = []
    _ = MemberWalk(member: emma).walk(
      revision: revision, of: record, isOnlyInHistory: false,
      visit: { visited.append($0) }, fail: { _, error in Issue.record(error) })
    return visited
  }

  /// Somebody with the keys may write a tombstone that names content which nobody has. A sync does not bring that, so
  /// taking the revision over into a new epoch must not wait for it.
  @Test func aTombstoneWithContentHoldsNothingUp() throws {
    let edit = RecordEdit.newRecord("Visit", note: "all well")
    _ = try emma.commit([edit])
    let entry = try #require(emma.entry(edit.record))
    var forged = try emma.revision(entry.revision)
    forged.document = Item(
      name: .record, file: .random(), size: 3, content: .chunks([.random()]), time: .zero,
      isDeleted: true)
    let bytes = forged.encode { _ in .zero }
    let digest = try emma.objects.write(.record, bytes, under: emma.register.keys.current)
    #expect(visited(digest, of: edit.record).map(\.digest) == [digest])
    let keys = newKeys()
    let translation = Translation(
      member: emma, target: keys, keepsHistory: false, lacking: .awaited)
    try translation.take(revision: digest)
    #expect(translation.count == 1 && translation.leftBehind.isEmpty)
  }

  /// What stands in a list of chunks that is whole is looked for, though another list of the same file is lost.
  @Test func aLostListHidesOnlyItsOwnChunks() throws {
    let (many, few) = try (
      emma.objects.put(.chunk, [UInt8](repeating: 1, count: Limits.chunkBytes)),
      emma.objects.put(.chunk, [UInt8](repeating: 2, count: Limits.chunkBytes))
    )
    let chunks = [ContentDigest?](repeating: many, count: ChunkIndex.capacity) + [few, few]
    var edit = RecordEdit.newRecord("Film")
    let name = try #require(FileName("film.mp4"))
    edit.items[name] = Item(
      name: name, file: .random(), size: UInt64(chunks.count * Limits.chunkBytes),
      content: try emma.content(of: chunks), time: .zero)
    let commit = try emma.commit([edit])
    #expect(commit.failures.isEmpty)
    let revision = try #require(emma.entry(edit.record)).revision
    let lists = visited(revision, of: edit.record).filter { $0.kind == .index }.map(\.digest)
    try #require(lists.count == 2)
    let lost = [lists[0], few].map { emma.objects.path(of: $0) }
    for path in lost { try memory.store.remove(path) }
    try vault.close()
    let problems = try memory.open().check(readsData: false).problems
    #expect(Set(problems.map(\.path)) == Set(lost.map(\.string)))
  }

  /// A revision and all that it names stand under new keys once it was taken: what one walk visits, the other one has
  /// moved.
  @Test func whatIsVisitedIsWhatIsTakenOver() throws {
    var edit = RecordEdit.newRecord("Disc", note: "CT")
    for number in 0..<200 {
      let name = "\(number).dcm"
      edit.items[try #require(FileName(name))] = try .file(name, Array(name.utf8), in: emma)
    }
    _ = try emma.commit([edit])
    let revision = try #require(emma.entry(edit.record)).revision
    let keys = newKeys()
    let translation = Translation(
      member: emma, target: keys, keepsHistory: true, lacking: .awaited)
    try translation.take(revision: revision)
    let needed = Set(visited(revision, of: edit.record).map(\.digest))
    #expect(needed.count > 200 && translation.count == UInt64(needed.count))
    for digest in needed { #expect(try emma.objects.isPresent(keys.name(of: digest))) }
  }
}
