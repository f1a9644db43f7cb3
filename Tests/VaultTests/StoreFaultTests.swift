import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A folder that refuses a call in the middle of a commit: the disk is full, or was taken away from us.
@Suite struct StoreFaultTests {
  private static let mutatingKinds: [StoreCall.Kind] = [
    .create, .put, .rename, .renameDurably, .link, .replace, .barrier,
  ]

  /// Fails each call of one commit in turn, in the vault's folder or in the state's.
  ///
  /// The commit says so, what was committed stays, and the same edits go through once there is space again.
  @Test(arguments: [FaultyStore.Fault.noSpace, .readOnly, .io(errno: 5)], mutatingKinds)
  func aRefusedCallLosesNothing(fault: FaultyStore.Fault, kind: StoreCall.Kind) throws {
    for inState in [false, true] {
      for number in 1... {
        let isDone = try failOnce(fault, kind, number, inState: inState)
        if isDone { break }
      }
    }
  }

  private static let base = Result {
    let (memory, _, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("A", note: "before")])
    return memory
  }

  /// - Returns: True if the commit does not come to that call.
  private func failOnce(
    _ fault: FaultyStore.Fault, _ kind: StoreCall.Kind, _ number: Int, inState: Bool
  ) throws -> Bool {
    let memory = try Self.base.get().afterKill()
    let store = FaultyStore(memory.store)
    let state = FaultyStore(memory.stateStore)
    let vault = try Vault.open(
      VaultCopy(
        id: memory.id, store: store, state: StateFolder(store: state), clock: memory.clock.wallClock
      ), key: memory.created.unlockKey, options: OpenOptions())
    let emma = try #require(vault.members.first)
    let record = try #require(emma.record(titled: "A")).record
    let comment: Comment = "call \(number), in the state: \(inState)"

    (inState ? state : store).fail(kind, number: number, andAllLater: true, with: fault)
    var error: VaultError?
    var edit = RecordEdit(record: record)
    do {
      let name = try #require(FileName("card.jpg"))
      edit.items[.record] = .note("after")
      edit.items[name] = try .file("card.jpg", [1, 2, 3], in: emma)
      _ = try emma.commit([edit])
    } catch let failure as VaultError {
      error = failure
    }
    if let error {
      #expect(isExpected(error, fault), comment)
      // What was committed can be read while nothing can be written.
      let note = try #require(try emma.bytes(of: "record.md", in: record))
      #expect(["before", "after"].contains(String(decoding: note, as: UTF8.self)), comment)
    }
    (inState ? state : store).failNothing()
    if edit.items.count < 2 {
      edit.items[try #require(FileName("card.jpg"))] =
        try .file("card.jpg", [1, 2, 3], in: emma)
    }
    _ = try emma.commit([edit])
    for seen in [vault, try memory.open()] {
      let member = try #require(seen.members.first)
      #expect(try member.bytes(of: "record.md", in: record) == Array("after".utf8), comment)
      #expect(try member.bytes(of: "card.jpg", in: record) == [1, 2, 3], comment)
      #expect(try seen.check(readsData: true).problems.allSatisfy { $0.severity == .note }, comment)
    }
    return error == nil
  }

  /// What a caller was told cannot be saved does not show by itself when another process comes, and goes through later.
  @Test func aHeadThatCouldNotBePutInItsPlaceIsForgotten() throws {
    let memory = try Self.base.get().afterKill()
    let disk = FaultyStore(memory.store)
    let vault = try memory.open(on: disk)
    let emma = try #require(vault.members.first)
    disk.fail(.renameDurably, andAllLater: true, with: .io(errno: 5))
    #expect(throws: VaultError.self) { _ = try emma.commit([.newRecord("B")]) }
    disk.failNothing()
    for options in [OpenOptions(readOnly: true), OpenOptions()] {
      let other = try memory.open(options)
      #expect(try #require(other.members.first).record(titled: "B") == nil)
      #expect(other.problems.allSatisfy { $0.severity == .note })
    }
    _ = try emma.commit([.newRecord("C")])
    for seen in [vault, try memory.open()] {
      let titles = try #require(seen.members.first).children(of: .root).map(\.title.string)
      #expect(titles.sorted() == ["A", "C"])
      #expect(seen.problems.allSatisfy { $0.severity == .note })
    }
  }

  /// As where this machine's state may not be written, but for folders in it: who is told that nothing was saved does it twice.
  @Test(arguments: [1, 2])
  func whatThisMachineCannotRememberIsNotSaved(number: Int) throws {
    let memory = try Self.base.get().afterKill()
    let state = FaultyStore(memory.stateStore)
    let vault = try Vault.open(
      VaultCopy(
        id: memory.id, store: memory.store, state: StateFolder(store: state),
        clock: memory.clock.wallClock), key: memory.created.unlockKey, options: OpenOptions())
    let emma = try #require(vault.members.first)
    state.fail(.replace, number: number, andAllLater: true, with: .permission)
    #expect(throws: VaultError.self) { _ = try emma.commit([.newRecord("B")]) }
    state.failNothing()
    #expect(try #require(memory.open().members.first).record(titled: "B") == nil)
    _ = try emma.commit([.newRecord("C")])
    let titles = try #require(memory.open().members.first).children(of: .root).map(\.title.string)
    #expect(titles.sorted() == ["A", "C"])
  }

  /// A disk that could not write something back says so once: what is there after that is in memory only, and a barrier that
  /// succeeds proves nothing of it.
  @Test(arguments: [3, 100_000])
  func whatMayHaveBeenLostIsWrittenAnew(byteCount: Int) throws {
    let memory = try Self.base.get().afterKill()
    let disk = ForgetfulDisk(memory.store)
    let vault = try memory.open(on: disk)
    let emma = try #require(vault.members.first)
    let record = try #require(emma.record(titled: "A")).record
    let content = [UInt8](repeating: 7, count: byteCount)
    let item = try Item.file("card.jpg", content, in: emma)
    // One object that a second file needs as well, and one that is the same as before the failure.
    let other = try Item.file("again.jpg", content + [1], in: emma)
    disk.forgetAtNextBarrier()
    #expect(throws: VaultError.self) {
      _ = try emma.commit([
        RecordEdit(record: record, items: [item.name: item, other.name: other])
      ])
    }
    #expect(!disk.lost.isEmpty)
    let again = try Item.file("again.jpg", content + [1], in: emma)
    _ = try emma.commit([RecordEdit(record: record, items: [item.name: item, again.name: again])])
    let needed = try [item, again].flatMap { try emma.chunks(of: $0.content) }.compactMap(\.self)
      .map { BlobPath(emma.objects.path(of: $0).string) }
    #expect(needed.count == 2)
    #expect(disk.lost.isDisjoint(with: needed))
    // The pages, segments and revisions of the head, too.
    try expectWhole(memory, without: disk.lost)
  }

  private func expectWhole(_ memory: MemoryVault, without lost: Set<BlobPath>) throws {
    let left = memory.afterKill()
    for path in lost { try left.store.remove(path) }
    #expect(
      try left.open().check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  /// The barrier that failed was of a commit of something else, and only that was told.
  @Test func whatWasStagedWhenABarrierFailedIsWrittenAnew() throws {
    let memory = try Self.base.get().afterKill()
    let disk = ForgetfulDisk(memory.store)
    let vault = try memory.open(on: disk)
    let emma = try #require(vault.members.first)
    let record = try #require(emma.record(titled: "A")).record
    let item = try Item.file("card.jpg", [UInt8](repeating: 7, count: 100_000), in: emma)
    disk.forgetAtNextBarrier()
    #expect(throws: VaultError.self) { _ = try emma.commit([.newRecord("B")]) }
    #expect(disk.lost.contains { $0.string.hasPrefix("staging/") })
    _ = try emma.commit([RecordEdit(record: record, items: [item.name: item])])
    try expectWhole(memory, without: disk.lost)
    #expect(try memory.afterKill().open().members.first?.record(titled: "B") == nil)
  }

  private func isExpected(_ error: VaultError, _ fault: FaultyStore.Fault) -> Bool {
    switch (error, fault) {
    case (.noSpace, .noSpace), (.readOnly, .readOnly), (.io, .io): true
    default: false
    }
  }
}
