import BlobStore
import Notes
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPlain

@testable import Vault

/// What whoever changes records stands on: records deleted and brought back, contents in parts.
@Suite struct RecordChangesTests {
  @Test func whatIsDeletedWithEverythingInItIsBroughtBack() throws {
    let vault = try MemoryVault().open()
    let member = try vault.addMember(named: #require(FileName("Emma")))
    let (parent, edits) = member.place(for: .vaccine)
    let top = RecordEdit(
      new: .random(), titled: try #require(FileName(date: "2025", title: "Top")), in: parent)
    let below = RecordEdit(
      new: .random(), titled: try #require(FileName(date: "", title: " Below")), in: top.record)
    try vault.commit(edits + [top, below], to: member)
    #expect(member.place(for: .vaccine).edits.isEmpty)
    try vault.commit(try member.edits(deleting: top.record), to: member)
    #expect(member.entry(top.record)?.isDeleted == true)
    #expect(member.entry(below.record)?.isDeleted == true)
    try vault.commit(try RecordRestore(member).undeletion(of: top.record).edits, to: member)
    #expect(member.entry(top.record)?.isDeleted == false)
    #expect(member.entry(below.record)?.isDeleted == false)
    #expect(throws: VaultError.self) { try member.edits(deleting: .root) }
    try vault.close()
  }

  /// In a folder that is deleted too it would show elsewhere than where it is said to be.
  @Test func anOlderRevisionOfADeletedRecordComesBackWhereItWas() throws {
    let vault = try MemoryVault().open()
    let member = try vault.addMember(named: #require(FileName("Emma")))
    let folder = RecordEdit.newRecord("Visits")
    let visit = RecordEdit.newRecord("Visit", in: folder.record, note: "one")
    try vault.commit([folder, visit], to: member)
    let first = try member.revision(#require(member.entry(visit.record)).revision)
    var change = RecordEdit(record: visit.record)
    change.items[.record] = .note("two")
    try vault.commit(change, to: member)
    try vault.commit(try member.edits(deleting: folder.record), to: member)
    let edits = try RecordRestore(member).edits(undeleting: visit.record, as: first)
    try vault.commit(edits, to: member)
    #expect(member.entry(folder.record)?.isDeleted == false)
    #expect(member.children(of: folder.record).map(\.record) == [visit.record])
    #expect(try member.bytes(of: "record.md", in: visit.record) == Array("one".utf8))
    #expect(throws: VaultError.self) {
      try RecordRestore(member).edits(undeleting: visit.record, as: first)
    }
    try vault.close()
  }

  /// An edit of one revision is of no other, also where this device has made that, a moment ago.
  @Test func whatHasChangedMeanwhileIsNotReplaced() throws {
    let vault = try MemoryVault().open()
    let member = try vault.addMember(named: #require(FileName("Emma")))
    let record = RecordID.random()
    var files = FileImport(into: member, mediaType: { _, _ in "" })
    func note(_ text: String) throws -> Item {
      try files.item(forContent: Array(text.utf8), named: .record, modified: .zero)
    }
    var made = RecordEdit(new: record, titled: try #require(FileName("Visit")), in: .root)
    made.items[.record] = try note("first")
    try vault.commit(made, to: member)
    let seen = try NoteReading.load(of: record, in: member)
    try vault.commit(seen.edit(replacingBy: try note("second")), to: member)
    var late = seen.edit(replacingBy: try note("third"))
    late.base = seen.revision
    do throws(VaultError) {
      try vault.commit(late, to: member)
      Issue.record("what was written meanwhile is gone")
    } catch {
      guard case .changedMeanwhile(record) = error else { throw error }
    }
    let now = try NoteReading.load(of: record, in: member)
    #expect(now.bytes == Array("second".utf8) && !now.isSame(as: seen))
    late.base = now.revision
    try vault.commit(late, to: member)
    #expect(try NoteReading.load(of: record, in: member).bytes == Array("third".utf8))
    try vault.close()
  }

  /// However the parts are cut, it is the same content.
  @Test(arguments: [0, 1, 4095, 1 << 20, (1 << 20) + 1, 3 << 20])
  func aContentInPartsIsTheSameAsInOne(size: Int) throws {
    let vault = try MemoryVault().open()
    let member = try vault.addMember(named: #require(FileName("Emma")))
    let name = try #require(FileName("scan.bin"))
    // A chunk of zeros is a hole.
    let bytes = (0..<size).map { $0 < 1 << 20 ? 0 : UInt8(truncatingIfNeeded: $0 / 251) }
    func content(partSize: Int) throws -> Item.Content {
      var whole = ContentImport(into: member, named: name)
      for start in stride(from: 0, to: size, by: partSize) {
        try bytes[start..<min(start + partSize, size)].withUnsafeBytes { try whole.add($0) }
      }
      let (count, content) = try whole.finish()
      #expect(count == UInt64(size))
      return content
    }
    let whole = try content(partSize: max(1, size))
    for partSize in [size / 3 + 1, 65_536, (1 << 20) + 7] {
      #expect(try content(partSize: partSize) == whole)
    }
    var item = Item(name: name, file: .random(), mode: 0o100600, time: .zero)
    (item.size, item.content) = (UInt64(size), whole)
    let parts = try FileParts.load(of: item, in: member)
    #expect(try (0..<parts.count).flatMap { try parts.part($0) } == bytes)
    try vault.close()
  }
}
