import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

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
    let memory = try MemoryVault()
    let vault = try memory.open()
    let emma = try vault.addMember(named: try #require(FileName("Emma")))
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

  private func isExpected(_ error: VaultError, _ fault: FaultyStore.Fault) -> Bool {
    switch (error, fault) {
    case (.noSpace, .noSpace), (.readOnly, .readOnly), (.io, .io): true
    default: false
    }
  }
}
