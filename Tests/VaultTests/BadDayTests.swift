import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// Damage and wrong clocks, as a whole vault meets them.
@Suite struct BadDayTests {
  /// An older version of a note is damaged, or gone: those after it can be read all the same, and why there are no more is known.
  @Test(arguments: [true, false])
  func aDamagedVersionKeepsNobodyFromTheOthers(isThere: Bool) throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    var edit = RecordEdit.newRecord("A", note: "0")
    _ = try emma.commit([edit])
    for number in 1..<4 {
      edit = RecordEdit(record: edit.record)
      edit.items[.record] = .note("\(number)")
      _ = try emma.commit([edit])
    }
    let damaged = emma.objects.path(of: try emma.history(of: edit.record)[2].digest)
    try vault.close()
    var bytes = try memory.store.read(damaged, limit: 1 << 20)
    bytes[bytes.count / 2] ^= 1
    if isThere {
      try memory.store.replace(damaged, bytes, durably: true)
    } else {
      try memory.store.remove(damaged)
    }
    let member = try #require(memory.open().members.first)
    let history = try member.history(of: edit.record)
    #expect(history.count == 2)
    let last = try #require(history.last)
    #expect(member.isDamaged(before: last.revision) == isThere)
    #expect(!member.isDamaged(before: history[0].revision))
  }

  /// A record was deleted file by file, and what it was before that is damaged: what was left of it a moment before its end does
  /// not come back in the place of that, nor is it said that nothing is kept.
  @Test(arguments: [true, false])
  func whatCannotBeReadDoesNotComeBackHalfEmpty(isLeftHalf: Bool) throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let card = try #require(FileName("card.jpg"))
    var edit = RecordEdit.newRecord("A", note: "0")
    edit.items[card] = try .file("card.jpg", [1, 2, 3], in: emma)
    _ = try emma.commit([edit])
    let whole = emma.objects.path(of: try #require(emma.entry(edit.record)).revision)
    var removal = RecordEdit(record: edit.record)
    removal.items.updateValue(nil, forKey: card)
    if isLeftHalf {
      _ = try emma.commit([removal])
      removal = RecordEdit(record: edit.record)
    }
    removal.items.updateValue(nil, forKey: .record)
    removal.place = RecordPlace(
      parent: .root, title: try #require(FileName("A")), isDeleted: true)
    _ = try emma.commit([removal])
    try vault.close()
    var bytes = try memory.store.read(whole, limit: 1 << 20)
    bytes[bytes.count / 2] ^= 1
    try memory.store.replace(whole, bytes, durably: true)
    let restore = RecordRestore(try #require(memory.open().members.first))
    let isOfDamage = { (error: any Error) in
      if case VaultError.damaged = error { true } else { false }
    }
    #expect { _ = try restore.undeletion(of: edit.record) } throws: { isOfDamage($0) }
    #expect { _ = try restore.deletedFile(named: card, of: edit.record) } throws: {
      isOfDamage($0)
    }
  }

  /// Of one of the records that were deleted with their folder something is lost: the others come back with it, and that one when
  /// it is whole again, with what was in it.
  @Test(arguments: [true, false])
  func oneThatIsLostKeepsNoOthersDeleted(isItsContent: Bool) throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let folder = RecordEdit.newRecord("Visits")
    var lost = RecordEdit.newRecord("Lost", in: folder.record, note: "lost")
    let chunk = try emma.objects.put(.chunk, [1, 2, 3])
    let card = Item(
      name: try #require(FileName("card.jpg")), file: .random(), size: 3,
      content: try emma.content(of: [chunk]), time: .zero)
    lost.items[card.name] = card
    let below = RecordEdit.newRecord("Below", in: lost.record, note: "below")
    let other = RecordEdit.newRecord("Other", in: folder.record, note: "other")
    try vault.commit([folder, lost, below, other], to: emma)
    let version = try #require(emma.entry(lost.record)).revision
    let path = emma.objects.path(of: isItsContent ? chunk : version)
    try vault.commit(try emma.edits(deleting: folder.record), to: emma)
    try vault.close()
    let bytes = try memory.store.read(path, limit: 1 << 20)
    if isItsContent {
      try memory.store.remove(path)
    } else {
      try memory.store.replace(path, Array(bytes.dropLast()), durably: true)
    }

    let damaged = try memory.open()
    let there = try #require(damaged.members.first)
    let most = try RecordRestore(there).undeletion(of: folder.record)
    #expect(most.left.map { $0.record } == [lost.record])
    try damaged.commit(most.edits, to: there)
    let back = there.allEntries().filter { !$0.isDeleted }.map(\.record)
    #expect(Set(back) == [.root, folder.record, other.record])
    try damaged.close()

    try memory.store.replace(path, bytes, durably: true)
    let mended = try memory.open()
    let member = try #require(mended.members.first)
    let rest = try RecordRestore(member).undeletion(of: folder.record)
    #expect(rest.left.isEmpty && rest.edits.map(\.record) == [lost.record, below.record])
    try mended.commit(rest.edits, to: member)
    #expect(member.allEntries().allSatisfy { !$0.isDeleted })
    // What is deleted later was not deleted with it.
    try mended.commit(try member.edits(deleting: below.record), to: member)
    #expect(try !RecordRestore(member).undeletion(of: folder.record).isOfAny)
    try mended.close()
  }

  /// One of the versions that lost and are kept is damaged.
  @Test func aDamagedConflictHidesNoOther() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    func kept(_ title: String, _ time: UInt64) throws -> RecordEdit {
      let mark = ConflictMark(
        record: .random(), device: vault.device, time: HybridTime(milliseconds: time))
      var edit = RecordEdit.newRecord(title, in: emma.conflictFolder, note: title)
      edit.attributes?.xattrs = [mark.xattr]
      return edit
    }
    let folder = RecordEdit(
      record: emma.conflictFolder, isNew: true,
      place: RecordPlace(
        parent: .root, title: try #require(FileName(ConflictMark.folderTitle))),
      attributes: RecordAttributes(mode: 0o700))
    let (lost, whole) = (try kept("Lost", 2), try kept("Whole", 1))
    try vault.commit([folder, lost, whole], to: emma)
    #expect(try emma.keptConflicts().map(\.copy.record) == [lost.record, whole.record])
    let path = emma.objects.path(of: try #require(emma.entry(lost.record)).revision)
    try vault.close()
    try memory.store.replace(path, [1, 2, 3], durably: true)
    let member = try #require(memory.open().members.first)
    #expect(try member.keptConflicts().map(\.copy.record) == [whole.record])
    #expect(try member.unreadableConflicts().map(\.record) == [lost.record])
  }

  /// Of a deleted record all is lost: a repair forgets it, as no new device could take a list that names it.
  @Test func aRepairForgetsADeletedRecordOfWhichNothingIsLeft() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let edit = RecordEdit.newRecord("A", note: "0")
    _ = try emma.commit([edit])
    _ = try emma.commit(emma.edits(deleting: edit.record))
    let lost = try emma.history(of: edit.record).map { emma.objects.path(of: $0.digest) }
    #expect(lost.count == 2)
    try vault.close()
    for path in lost { try memory.store.remove(path) }
    let damaged = try memory.open()
    _ = try damaged.repair()
    #expect(damaged.members.first?.entry(edit.record) == nil)
    #expect(try damaged.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  /// Another process brings a deleted record back when it was just about to be forgotten, and waits for nobody.
  @Test func whatIsBroughtBackMeanwhileIsNotForgotten() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let edit = RecordEdit.newRecord("A", note: "0")
    _ = try emma.commit([edit])
    _ = try emma.commit(emma.edits(deleting: edit.record))
    let other = try memory.open()
    let there = try #require(other.members.first)
    _ = try there.commit(RecordRestore(there).undeletion(of: edit.record).edits)
    try emma.commitCheckpoint(dropping: [edit.record])
    #expect(emma.record(titled: "A") != nil)
    #expect(try #require(memory.open().members.first).record(titled: "A") != nil)
    // What stays deleted is forgotten.
    _ = try emma.commit(emma.edits(deleting: edit.record))
    try emma.commitCheckpoint(dropping: [edit.record])
    #expect(emma.entry(edit.record) == nil)
    try other.close()
    try vault.close()
  }

  /// The clock was a year ahead, and is right again.
  @Test func aRegisterFromTheFutureIsWorkedOnAsAnyOther() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    let edit = RecordEdit.newRecord("A", note: "today")
    _ = try emma.commit([edit])
    memory.clock.advance(days: 365)
    var change = RecordEdit(record: edit.record)
    change.items[.record] = .note("in a year")
    _ = try emma.commit([change])
    try vault.close()

    let again = try Vault.open(
      VaultCopy(
        id: memory.id, store: memory.store, state: memory.state,
        clock: MemoryVault.Clock().wallClock), key: memory.created.unlockKey, options: OpenOptions()
    )
    #expect(again.problems.isEmpty)
    let member = try #require(again.members.first)
    change.items[.record] = .note("today again")
    _ = try member.commit([change])
    _ = try again.collect(keepDays: 30, isDryRun: false)
    let texts = try member.history(of: edit.record).map { revision in
      String(
        decoding: try member.beginning(
          of: try #require(revision.revision.document), byteCount: 100), as: UTF8.self)
    }
    #expect(texts == ["today again", "in a year", "today"])
    #expect(try again.check(readsData: true).problems.isEmpty)
  }

  @Test func repairCutAtAnyCallCanBeRepeated() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("A", note: "a"), .newRecord("B", note: "b")])
    try vault.close()
    try memory.store.remove(BlobPath(VaultPath.head(emma.id, vault.device).string))
    try memory.stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    for number in 1... {
      let copy = memory.afterKill()
      let damaged = try copy.open()
      copy.store.cut(after: number)
      var isWhole = true
      do throws(VaultError) { _ = try damaged.repair() } catch { isWhole = false }
      let lefts = [copy.afterKill()] + Seeds.first(3).map { copy.afterPowerCut(seed: $0) }
      for left in lefts {
        let reopened = try left.open()
        let reports = try reopened.repair()
        #expect(!isWhole || reports.isEmpty)
        let member = try #require(try left.open().members.first)
        #expect(member.name.string == "Emma", "call \(number)")
        #expect(member.children(of: .root).map(\.title.string).sorted() == ["A", "B"])
      }
      if isWhole { return }
    }
  }

  @Test func theAuditLogGoesOnAfterADamagedSegment() throws {
    let (memory, vault, _) = try MemoryVault.withEmma()
    vault.audit.note(.read, detail: "before")
    try vault.audit.publish()
    let path = BlobPath(VaultPath.auditSegment(vault.device, first: 1).string)
    var file = try memory.store.read(path, limit: 1 << 20)
    file[file.count / 2] ^= 1
    try memory.store.replace(path, file, durably: true)
    vault.audit.note(.read, detail: "after")
    try vault.audit.publish()
    let (events, problems) = try vault.audit.read()
    #expect(events.map(\.event.detail) == ["after"])
    #expect(problems.contains { $0.path == path.string && $0.severity == .damage })
  }
}
