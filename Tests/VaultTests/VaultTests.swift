import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

@Suite struct VaultTests {
  @Test func opensAgainWithWhatWasCommitted() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    var edit = RecordEdit.newRecord(
      "Vaccines", note: "---\ntype: vaccine\ndate: 2025-01-20\n---\nHi")
    edit.items[try #require(FileName("card.jpg"))] = try .file("card.jpg", [1, 2, 3], in: emma)
    let commit = try emma.commit([edit])
    #expect(commit.failures.isEmpty)
    try vault.close()

    let again = try memory.open()
    let member = try #require(again.members.first)
    #expect(member.name.string == "Emma")
    let entry = try #require(member.record(titled: "Vaccines"))
    #expect(entry.type == "vaccine")
    #expect(entry.date == "2025-01-20")
    #expect(try member.bytes(of: "card.jpg", in: entry.record) == [1, 2, 3])
    #expect(again.problems.isEmpty)
    #expect(try again.check(readsData: true).problems.isEmpty)
  }

  @Test func tellsAWrongPasswordFromADamagedSlot() throws {
    let memory = try MemoryVault()
    #expect {
      _ = try UnlockSlots(vault: memory.id, state: memory.state)
        .open(password: SecretBytes(copying: Array("wrong".utf8))).takeKey()
    } throws: {
      guard case VaultError.wrongPassword = $0 else { return false }
      return true
    }
    let name = try #require(try memory.stateStore.list("slots").first?.name)
    let path = BlobPath("slots").appending(name)
    var slot = try memory.stateStore.read(path, limit: 1 << 16)
    slot[slot.count / 2] ^= 1
    // A power cut may leave nothing of it.
    for bytes in [slot, []] {
      try memory.stateStore.replace(path, bytes, durably: true)
      #expect {
        _ = try UnlockSlots(vault: memory.id, state: memory.state)
          .open(password: SecretBytes(copying: Array(MemoryVault.password.utf8))).takeKey()
      } throws: {
        guard case VaultError.damagedSlot = $0 else { return false }
        return true
      }
    }
  }

  @Test func wordsMakeANewDevice() throws {
    let memory = try MemoryVault()
    let vault = try memory.open()
    _ = try vault.addMember(named: #require(FileName("Emma")))
    let other = StateFolder(store: MemoryStore())
    let key = try Vault.recover(
      VaultCopy(id: memory.id, store: memory.store, state: other, clock: memory.clock.wallClock),
      words: memory.created.words, device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array("new one".utf8)))
    let again = try Vault.open(
      VaultCopy(id: memory.id, store: memory.store, state: other, clock: memory.clock.wallClock),
      key: key, options: OpenOptions())
    #expect(again.members.map(\.name.string) == ["Emma"])
    #expect(again.device != vault.device)
    #expect(again.person == vault.person)
    // Both devices write, and each sees the other.
    let first = try #require(vault.members.first)
    let second = try #require(again.members.first)
    let note = RecordEdit.newRecord("from the second", note: "x")
    _ = try second.commit([note])
    _ = try first.refresh()
    #expect(first.entry(note.record)?.title.string == "from the second")
  }

  @Test func aCommitOfOneProcessIsSeenByAnother() throws {
    let memory = try MemoryVault()
    let one = try memory.open()
    let emma = try one.addMember(named: #require(FileName("Emma")))
    let two = try memory.open()
    let same = try #require(two.members.first)
    let edit = RecordEdit.newRecord("A")
    _ = try same.commit([edit])
    #expect(try emma.refresh() == [edit.record])
    _ = try emma.commit([.newRecord("B")])
    _ = try same.commit([.newRecord("C")])
    #expect(same.children(of: .root).map(\.title.string).sorted() == ["A", "B", "C"])
  }

  @Test func aRollbackIsRecognisedAndGoneOnFromOnceAccepted() throws {
    var memory = try MemoryVault()
    let vault = try memory.open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    _ = try emma.commit([.newRecord("old")])
    let backup = memory.store.imageAfterKill()
    _ = try emma.commit([.newRecord("newer")])
    let newest = try emma.commit([.newRecord("newest")]).counter
    memory.store = backup
    #expect {
      _ = try memory.open()
    } throws: {
      guard case VaultError.rolledBack = $0 else { return false }
      return true
    }
    let accepted = try memory.open(OpenOptions(acceptRollback: true))
    try accepted.close()
    // Asked once only.
    let again = try memory.open()
    let member = try #require(again.members.first)
    #expect(member.record(titled: "newer") == nil)
    let commit = try member.commit([.newRecord("after")])
    #expect(commit.counter > newest)
    #expect(try memory.open().members.first?.record(titled: "after") != nil)
  }

  @Test func aFolderFromBeforeAMemberWasAddedIsARollback() throws {
    var memory = try MemoryVault()
    let vault = try memory.open()
    let before = memory.store.imageAfterKill()
    let newest = try vault.addMember(named: #require(FileName("Emma")))
      .commit([.newRecord("A")]).counter
    memory.store = before
    #expect {
      _ = try memory.open()
    } throws: {
      guard case VaultError.rolledBack(_, found: 0, seen: newest) = $0 else { return false }
      return true
    }
    #expect(try memory.open(OpenOptions(acceptRollback: true)).members.isEmpty)
    #expect(try memory.open().members.isEmpty)
  }

  @Test func repairRebuildsALostHead() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("A", note: "a"), .newRecord("B", note: "b")])
    try vault.close()
    let head = VaultPath.head(emma.id, vault.device)
    try memory.store.remove(BlobPath(head.string))
    // Nor has this machine kept it.
    try memory.stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    let damaged = try memory.open()
    #expect(damaged.problems.contains { $0.path == head.string })
    let reports = try damaged.repair()
    #expect(reports.count == 1)
    let whole = try memory.open()
    let member = try #require(whole.members.first)
    #expect(member.name.string == "Emma")
    #expect(member.children(of: .root).map(\.title.string).sorted() == ["A", "B"])
    #expect(try whole.check(readsData: true).problems.isEmpty)
  }

  @Test func collectRemovesOnlyWhatNothingNames() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let edit = RecordEdit.newRecord("A", note: "first")
    _ = try emma.commit([edit])
    for text in ["second", "third"] {
      var change = RecordEdit(record: edit.record)
      change.items[.record] = .note(text)
      _ = try emma.commit([change])
    }
    #expect(try emma.history(of: edit.record).count == 3)
    _ = try vault.collect(keepDays: 30, isDryRun: false)
    #expect(try emma.history(of: edit.record).count == 3)
    memory.clock.advance(days: 60)
    let report = try vault.collect(keepDays: 30, acceptsClock: true, isDryRun: false)
    #expect(report.objectCount > 0)
    #expect(try emma.history(of: edit.record).count == 1)
    #expect(try emma.bytes(of: "record.md", in: edit.record) == Array("third".utf8))
    #expect(try vault.check(readsData: true).problems.isEmpty)
  }
}
