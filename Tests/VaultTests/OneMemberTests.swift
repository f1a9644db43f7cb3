import BlobStore
import TestSupport
import Testing
import VaultModel
import VaultObjects

@testable import Vault

/// What is wrong with one member keeps no other from being repaired, or collected.
@Suite struct OneMemberTests {
  private func edited(_ member: Member) throws -> RecordID {
    var edit = RecordEdit.newRecord("A", note: "1")
    _ = try member.commit([edit])
    edit = RecordEdit(record: edit.record)
    edit.items[.record] = .note("2")
    _ = try member.commit([edit])
    return edit.record
  }

  @Test func whatSomebodyMayOnlyReadKeepsNothingElseFromRepair() throws {
    let adults = try Adults()
    let ben = adults.ben
    let note = try adults.anna.write("Visit")
    try adults.share(with: ben, .viewer)
    let mine = try ben.vault.addMember(named: #require(FileName("zz")))
    let record = try edited(mine)
    for (member, record) in [(try #require(ben.emma), note), (mine, record)] {
      let newest = try #require(member.entry(record)).revision
      try ben.store.remove(member.objects.path(of: newest))
    }
    try ben.reopen()
    let reports = try ben.vault.repair()
    #expect(reports.map(\.member) == ["zz"])
    #expect(reports.first?.wentBack.count == 1)
    #expect(reports.first?.failure == nil)
  }

  /// The list of what is in Emma is lost with her root, and nothing that is left is signed by somebody who may write.
  @Test func whatCannotBeCollectedIsSkippedAndTheRestIsNot() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try edited(try vault.addMember(named: #require(FileName("zz"))))
    let segment = try #require(emma.openedHeads.first?.segments.first)
    try vault.close()
    try memory.store.remove(emma.objects.path(of: segment))
    let report = try memory.open().collect(keepDays: 0, isDryRun: false)
    #expect(report.skippedMembers.count == 1)
    #expect(report.objectCount > 0)
    try memory.open().makeRoom(keepDays: 0)
  }
}
