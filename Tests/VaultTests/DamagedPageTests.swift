import BlobStore
import Notes
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A page of a record's list of files is lost or damaged.
@Suite struct DamagedPageTests {
  private let memory: MemoryVault
  private let vault: Vault
  private let emma: Member
  private let disc: RecordID

  init() throws {
    (memory, vault, emma) = try MemoryVault.withEmma()
    var edit = RecordEdit.newRecord("Disc")
    for number in 0..<200 {
      let name = "\(number).dcm"
      edit.items[try #require(FileName(name))] = try .file(name, Array(name.utf8), in: emma)
    }
    _ = try emma.commit([edit])
    disc = edit.record
  }

  private func reopened() throws -> (vault: Vault, emma: Member) {
    try vault.close()
    let again = try memory.open()
    return (again, try #require(again.members.first))
  }

  private func path(of name: ContentDigest) -> BlobPath { emma.objects.path(of: name) }

  /// The pages of the record's current revision, the root first.
  private func pages() throws -> [ContentDigest] {
    let entry = try #require(emma.entry(disc))
    var names: [ContentDigest] = []
    _ = MemberWalk(member: emma).walk(
      revision: entry.revision, of: disc, isOnlyInHistory: false,
      visit: { if $0.kind == .page { names.append($0.digest) } },
      fail: { _, error in Issue.record(error) })
    return names
  }

  @Test func whatStandsInTheOtherPagesIsCheckedToo() throws {
    let pages = try pages()
    try #require(pages.count > 4)
    let entry = try #require(emma.entry(disc))
    let revision = try emma.revision(entry.revision)
    for (position, page) in pages.enumerated().dropFirst() {
      let good = try memory.store.read(path(of: page), limit: 1 << 20)
      let other = pages[position == 1 ? 2 : 1]
      guard case .leaf(let items) = try emma.loadPage(other),
        case .chunks(let chunks)? = items.first?.content, let chunk = chunks.first ?? nil
      else { throw Failure() }
      let content = try memory.store.read(path(of: chunk), limit: 1 << 20)
      try memory.store.remove(path(of: page))
      try memory.store.remove(path(of: chunk))
      let problems = try reopened().vault.check(readsData: false).problems
      #expect(
        Set(problems.map(\.path)) == [path(of: page).string, path(of: chunk).string])
      #expect(problems.allSatisfy { $0.kind == .missing && $0.severity == .damage })
      try memory.store.replace(path(of: page), good, durably: true)
      try memory.store.replace(path(of: chunk), content, durably: true)
    }
    #expect(try emma.items(of: revision).count == 200)
  }

  @Test func nothingIsCollectedWhileAnOlderPageIsMissing() throws {
    let pages = try pages()
    // All files go; only the older revision needs them.
    var edit = RecordEdit(record: disc)
    for number in 0..<200 { edit.items[try #require(FileName("\(number).dcm"))] = .some(nil) }
    _ = try emma.commit([edit])
    let page = path(of: pages[1])
    let good = try memory.store.read(page, limit: 1 << 20)
    try memory.store.remove(page)
    let (damaged, _) = try reopened()
    let before = Set(memory.store.blobs.keys)
    let report = try damaged.collect(keepDays: 30, isDryRun: false)
    #expect(report.skippedMembers == ["Emma"])
    #expect(report.objectCount == 0)
    #expect(before.isSubset(of: Set(memory.store.blobs.keys)))
    #expect(
      try damaged.check(readsData: false).problems.map { [$0.path, "\($0.severity)"] }
        == [[page.string, "warning"]])
    // From a backup, and the older revision is whole.
    try memory.store.replace(page, good, durably: true)
    try damaged.close()
    let mended = try memory.open()
    #expect(try mended.check(readsData: true).problems.isEmpty)
    _ = try mended.collect(keepDays: 30, isDryRun: false)
    #expect(try mended.check(readsData: true).problems.isEmpty)
    let emma = try #require(mended.members.first)
    let first = try #require(emma.history(of: disc).last)
    #expect(try emma.items(of: first.revision).count == 200)
  }

  /// Loses a page of the current revision that the one before does not have; what stood in it.
  private func losePage() throws -> Set<String> {
    let before = Set(try pages())
    var edit = RecordEdit(record: disc)
    for number in 200..<250 {
      let name = "\(number).dcm"
      edit.items[try #require(FileName(name))] = try .file(name, Array(name.utf8), in: emma)
    }
    _ = try emma.commit([edit])
    let lost = try #require(
      try pages().first { page in
        guard !before.contains(page), case .leaf(let items) = try emma.loadPage(page) else {
          return false
        }
        let isNew = items.map { Int($0.name.string.dropLast(4)) ?? 0 >= 200 }
        return isNew.contains(true) && isNew.contains(false)
      })
    guard case .leaf(let items) = try emma.loadPage(lost) else { throw Failure() }
    try memory.store.remove(path(of: lost))
    return Set(items.map(\.name.string))
  }

  private static func names(_ range: Range<Int>) -> Set<String> {
    Set(range.map { "\($0).dcm" })
  }

  private func names(in emma: Member) throws -> Set<String> {
    let entry = try #require(emma.entry(disc))
    return Set(try emma.items(of: emma.revision(entry.revision)).map(\.name.string))
  }

  @Test func repairGoesOnWithWhatIsListedAndWhatOlderRevisionsList() throws {
    let lost = try losePage()
    let (vault, emma) = try reopened()
    #expect(throws: VaultError.self) { try names(in: emma) }
    let older = Self.names(0..<200).intersection(lost)
    let left = Self.names(0..<250).subtracting(lost)
    let report = try #require(try vault.repair().first)
    #expect(report.wentBack.isEmpty && report.lost.isEmpty)
    #expect(report.cut.map(\.path) == ["Emma/Disc"])
    #expect(report.cut.map(\.keptCount) == [left.count])
    #expect(report.cut.map(\.takenBackCount) == [older.count])
    #expect(try names(in: emma) == left.union(older))
    let problems = try vault.check(readsData: true).problems
    #expect(problems.map(\.isOnlyInHistory) == [true])
    #expect(try vault.repair().isEmpty)
    // Once more from disk, and with the older revision's help no more than is said.
    try vault.close()
    let again = try #require(try memory.open().members.first)
    #expect(try names(in: again) == left.union(older))
    let text = try #require(older.first)
    let name = try #require(FileName(text))
    #expect(try again.item(named: name, in: disc)?.size == UInt64(name.bytes.count))
  }

  /// Such a version has nothing of what the damaged list held, and is newer than what has.
  @Test func aVersionThatIsNotJoinedEndsNoLookForWhatAListLost() throws {
    let other = RecordEdit.newRecord("Other")
    _ = try emma.commit([other])
    let lost = try losePage()
    let (vault, emma) = try reopened()
    let current = try #require(emma.entry(disc))
    let between = try #require(emma.entry(other.record))
    try #require(between.time < current.time)
    var revision = RecordRevision(
      record: disc, place: RecordPlace(parent: .root, title: current.title),
      placeTime: between.time, attributesTime: between.time,
      version: VersionVector(device: .random(), counter: 1), time: between.time, device: .random())
    let bytes = revision.encode { _ in .zero }
    let digest = try emma.objects.write(.record, bytes, under: emma.register.keys.current)
    let rival = RecordEntry(revision, named: digest, summary: .empty)
    emma.state.withLock { _ = $0.take([rival]) }
    let history = try emma.history(of: disc).map(\.digest)
    try #require(Array(history.prefix(2)) == [current.revision, digest])
    let older = Self.names(0..<200).intersection(lost)
    let report = try #require(try vault.repair().first)
    #expect(report.cut.map(\.takenBackCount) == [older.count])
    #expect(try names(in: emma) == Self.names(0..<250).subtracting(lost).union(older))
  }

  @Test func anOlderRevisionCanBeRestoredOverADamagedList() throws {
    let lost = try losePage()
    let (_, emma) = try reopened()
    let history = try emma.history(of: disc)
    #expect(history.count == 2)
    let changes = try emma.changes(from: history[1].revision, to: history[0].revision)
    let added = changes.compactMap { if case .added(let name) = $0 { name.string } else { nil } }
    #expect(changes.count == added.count + 1 && changes.contains(.unreadableFiles))
    #expect(Set(added) == Self.names(200..<250).subtracting(lost))
    _ = try emma.commit([RecordRestore(emma).edit(of: disc, to: history[1].revision)])
    #expect(try names(in: emma) == Self.names(0..<200))
  }

  private struct Failure: Error {}
}
