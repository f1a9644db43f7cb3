import BlobStore
import Log
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// What was made durable without a commit, where its person's access is another one when it is to be brought in.
@Suite struct RedoAccessTests {
  /// What Ben, an editor, had saved and not committed when his process ended. Anna has taken his access since.
  private struct Crash {
    let adults: Adults
    let note: RecordID
    let hers: Member
    var anna: Adults.Adult { adults.anna }
    var ben: Adults.Adult { adults.ben }

    init() throws {
      adults = try Adults()
      let (anna, ben) = (adults.anna, adults.ben)
      try adults.share(with: ben, .editor)
      note = try ben.write("Visit", "before")
      try adults.meet()
      var edit = RecordEdit(record: note)
      edit.items[.record] = .note("saved, and not committed")
      #expect(try #require(ben.emma).log([edit]))
      hers = try #require(anna.emma)
      try anna.vault.beginEpoch(of: hers, without: [ben.id])
    }

    func expectSaved() throws {
      let now = try ben.emma?.bytes(of: "record.md", in: note)
      #expect(now == Array("saved, and not committed".utf8))
    }
  }

  @Test func whatMayNotBeBroughtInAnyMoreIsTold() throws {
    let crash = try Crash()
    let (anna, ben, note, hers) = (crash.anna, crash.ben, crash.note, crash.hers)
    try anna.vault.share(hers, with: ben.id, role: .viewer)
    try Replicas.carry(from: anna.store, to: ben.store)
    for _ in 0..<2 {
      try ben.reopen()
      #expect(ben.vault.problems.map(\.kind) == [.unfinished])
      let reason = try #require(ben.vault.problems.first?.reason)
      #expect(reason.contains("kinvault share") && reason.contains("“Visit/record.md”"))
      #expect(try ben.emma?.bytes(of: "record.md", in: note) == Array("before".utf8))
    }
    // Who only looks is told the same.
    let view = try ben.open(on: ben.store, readOnly: true)
    #expect(view.problems.map(\.kind) == [.unfinished])
    #expect(view.problems.first?.reason.contains("“Visit/record.md”") ?? false)
    try anna.vault.share(hers, with: ben.id, role: .editor)
    try Replicas.carry(from: anna.store, to: ben.store)
    try ben.reopen()
    #expect(!ben.vault.problems.contains { $0.kind == .unfinished })
    #expect(ben.stateStore.blobs.keys.allSatisfy { !$0.string.hasPrefix("redo/") })
    try crash.expectSaved()
  }

  /// A mount looks twice a second for what crashes left, and such a file has four million bytes.
  @Test func whatWasToldIsNotReadTimeAndAgain() throws {
    let crash = try Crash()
    let (anna, ben, hers) = (crash.anna, crash.ben, crash.hers)
    try anna.vault.share(hers, with: ben.id, role: .viewer)
    try Replicas.carry(from: anna.store, to: ben.store)
    try ben.reopen()
    let isFile = { (path: BlobPath) in path.string.hasPrefix("redo/") && path.name == hers.id.hex }
    let file = try #require(ben.stateStore.blobs.first { isFile($0.key) })
    // Whoever reads this takes it for done.
    try ben.stateStore.replace(file.key, [UInt8](), durably: true)
    try ben.vault.redoWhatCrashesLeft()
    #expect(ben.stateStore.blobs[file.key] == [])
    try ben.stateStore.replace(file.key, file.value, durably: true)
    // In the same process, when there is something to be done.
    try anna.vault.share(hers, with: ben.id, role: .editor)
    try Replicas.carry(from: anna.store, to: ben.store)
    _ = try ben.vault.refreshMembers()
    _ = try ben.emma?.refresh()
    try ben.vault.redoWhatCrashesLeft()
    #expect(ben.stateStore.blobs[file.key] == nil)
    try crash.expectSaved()
  }

  /// Counts the bytes that are read of redo files.
  private final class MeasuringStore: InspectingStore {
    let inner: any LocalStore
    private let count = Mutex(0)
    var byteCount: Int { count.withLock { $0 } }

    init(_ inner: any LocalStore) { self.inner = inner }

    func inspect(_ call: StoreCall) {}

    private func note(_ bytes: [UInt8], of path: BlobPath) -> [UInt8] {
      if path.string.hasPrefix("redo/") { count.withLock { $0 += bytes.count } }
      return bytes
    }

    func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
      try note(inner.read(path, limit: limit), of: path)
    }

    func read(
      _ path: BlobPath, at offset: UInt64, count: Int
    ) throws(BlobStoreError) -> [UInt8] {
      try note(inner.read(path, at: offset, count: count), of: path)
    }
  }

  /// Of its four million bytes those that say something: of a block one more, which ends it.
  @Test(arguments: [true, false])
  func ofAFileThatWaitsOnlyItsRecordsAreRead(readOnly: Bool) throws {
    let crash = try Crash()
    let (anna, ben) = (crash.anna, crash.ben)
    try anna.vault.share(crash.hers, with: ben.id, role: .viewer)
    try Replicas.carry(from: anna.store, to: ben.store)
    let state = MeasuringStore(ben.stateStore)
    let vault = try ben.open(on: ben.store, state: state, readOnly: readOnly)
    #expect(vault.problems.first?.reason.contains("“Visit/record.md”") ?? false)
    #expect((RedoFile.blockSize...4 * RedoFile.blockSize).contains(state.byteCount))
  }

  /// Its person has removed the file, as they are told how to.
  @Test func whatWasGivenUpFailsNoMore() throws {
    let crash = try Crash()
    let (anna, ben) = (crash.anna, crash.ben)
    try anna.vault.share(crash.hers, with: ben.id, role: .viewer)
    try Replicas.carry(from: anna.store, to: ben.store)
    let folder = try TemporaryFolder()
    let failures = FailureFile(stateFolder: folder.path)
    let mount = try ben.open(on: ben.store, log: BackgroundLog(nil, failures: failures))
    try mount.redoWhatCrashesLeft()
    #expect(failures.load().map(\.work) == [.redo])
    let file = try #require(
      ben.stateStore.blobs.keys.first {
        $0.name == crash.hers.id.hex && $0.string.hasPrefix("redo/")
      })
    try ben.stateStore.remove(file)
    try mount.redoWhatCrashesLeft()
    #expect(failures.load() == [])
  }

  /// The head that has it counts no more, and says so all the same.
  @Test(arguments: [false, true])
  func whatACommitHadBeforeAccessWasTakenIsNotDoneAgain(isGivenBack: Bool) throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .editor)
    let note = try ben.write("Visit", "before")
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("mine")
    let mine = try #require(ben.emma)
    #expect(try mine.log([edit]))
    _ = try mine.commit([edit], foldsRedo: true)
    try adults.meet()
    try anna.edit(note, "hers")
    let hers = try #require(anna.emma)
    try anna.vault.beginEpoch(of: hers, without: [ben.id])
    try anna.vault.share(hers, with: ben.id, role: isGivenBack ? .editor : .viewer)
    try Replicas.carry(from: anna.store, to: ben.store)
    try ben.reopen()
    #expect(!ben.vault.problems.contains { $0.kind == .unfinished })
    #expect(ben.stateStore.blobs.keys.allSatisfy { !$0.string.hasPrefix("redo/") })
    #expect(try ben.emma?.bytes(of: "record.md", in: note) == Array("hers".utf8))
  }

  /// Its person has no access any more when the process ends in order.
  @Test func whatIsOfAMemberThatWasClosedMeanwhileStays() throws {
    let crash = try Crash()
    let (anna, ben, hers) = (crash.anna, crash.ben, crash.hers)
    for _ in 0..<2 { try crash.adults.carry(from: anna, to: ben) }
    #expect(ben.emma == nil)
    try ben.vault.close()
    try ben.reopen()
    let told = try #require(ben.vault.problems.first { $0.kind == .unfinished })
    #expect(told.reason.contains("remove redo/"))
    try anna.vault.share(hers, with: ben.id, role: .editor)
    try Replicas.carry(from: anna.store, to: ben.store)
    try ben.reopen()
    try crash.expectSaved()
    #expect(ben.stateStore.blobs.keys.allSatisfy { !$0.string.hasPrefix("redo/") })
  }
}
