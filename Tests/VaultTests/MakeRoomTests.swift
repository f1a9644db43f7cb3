import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// A disk that is so full that nothing at all can be written.
@Suite struct MakeRoomTests {
  private let memory: MemoryVault
  private let record: RecordID

  init() throws {
    memory = try MemoryVault()
    let vault = try memory.open()
    let member = try vault.addMember(named: #require(FileName("Emma")))
    let edit = RecordEdit.newRecord("Note", note: "0")
    _ = try member.commit([edit])
    record = edit.record
    for number in 1..<300 {
      var next = RecordEdit(record: record)
      next.items[.record] = .note("\(number)")
      _ = try member.commit([next])
    }
    try vault.close()
  }

  private var full: FaultyStore {
    let store = FaultyStore(memory.store)
    for kind in [StoreCall.Kind.put, .create, .link, .replace, .overwrite] {
      store.fail(kind, andAllLater: true, with: .noSpace)
    }
    return store
  }

  private var objectCount: Int {
    memory.store.blobs.keys.count { $0.string.contains("/objects/") }
  }

  @Test func collectRemovesALittleWithoutWriting() throws {
    let full = full
    #expect(throws: VaultError.self) { try memory.open(on: full) }
    let before = objectCount
    let reading = try memory.open(OpenOptions(readOnly: true), on: full)
    // It can be read meanwhile.
    let member = try #require(reading.members.first)
    #expect(try member.bytes(of: "record.md", in: record) == Array("299".utf8))
    try reading.makeRoom(keepDays: 0)
    let removed = before - objectCount
    #expect(removed > 100 && removed <= 256)
    let vault = try memory.open()
    #expect(try vault.check(readsData: true).problems == [])
    #expect(try vault.collect(keepDays: 0, isDryRun: false).objectCount > 0)
    #expect(try vault.check(readsData: true).problems == [])
    #expect(objectCount < 20)
  }

  @Test func whatIsKeptStays() throws {
    let before = objectCount
    try memory.open(OpenOptions(readOnly: true), on: full).makeRoom(keepDays: 30)
    let vault = try memory.open()
    let member = try #require(vault.members.first)
    #expect(try member.history(of: record).count == 300)
    // The segments of heads that are no more.
    #expect(objectCount < before)
  }
}
