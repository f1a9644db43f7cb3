import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// Every vault of every released format opens, whole.
@Suite struct FrozenVaultTests {
  static let frozen = ["2"]

  @Test(arguments: frozen)
  func holdsWhatItsMakersPutIn(name: String) throws {
    let frozen = try FrozenVault(name)
    try expectEverything(in: try frozen.open(OpenOptions(readOnly: true)), try frozen.expected)
  }

  @Test(arguments: frozen)
  func opensWithTheWordsAlone(name: String) throws {
    let frozen = try FrozenVault(name)
    let vault = try frozen.openWithWords()
    try expectEverything(in: vault, try frozen.expected)
    try vault.close()
  }

  @Test(arguments: frozen)
  func isWholeAndStaysSoWhenWritten(name: String) throws {
    let frozen = try FrozenVault(name)
    defer { withExtendedLifetime(frozen) {} }
    let vault = try frozen.open()
    #expect(try vault.check(readsData: true).problems.isEmpty)
    let member = try #require(vault.members.first)
    let edit = RecordEdit.newRecord("added years later", note: "it still opens")
    #expect(try member.commit([edit]).failures.isEmpty)
    try vault.close()
    let again = try frozen.open()
    let same = try #require(again.members.first)
    #expect(try same.bytes(of: "record.md", in: edit.record) == Array("it still opens".utf8))
    #expect(try again.check(readsData: true).problems.isEmpty)
    try again.close()
  }

  @Test(arguments: frozen)
  func keepsItsHistoryAndWhatWasDeleted(name: String) throws {
    let frozen = try FrozenVault(name)
    defer { withExtendedLifetime(frozen) {} }
    let vault = try frozen.open(OpenOptions(readOnly: true))
    let all = vault.members.flatMap { member in member.allEntries().map { (member, $0) } }
    let edited = try #require(
      all.first { $0.1.title.string.contains("Before and after") && !$0.1.isDeleted })
    #expect(try edited.0.history(of: edited.1.record).count > 1)
    let deleted = try #require(
      all.first { $0.1.title.string.contains("Ibuprofen") && $0.1.isDeleted })
    #expect(try deleted.0.history(of: deleted.1.record).count > 1)
    #expect(try !vault.audit.read().events.isEmpty)
  }

  private func expectEverything(in vault: Vault, _ expected: FrozenVault.Expected) throws {
    #expect(!expected.members.isEmpty)
    #expect(vault.problems.isEmpty)
    #expect(vault.members.map(\.name.bytes) == expected.members.map(\.name.bytes).sorted(by: less))
    for known in expected.members {
      let name = try #require(FileName(known.name.bytes))
      let member = try #require(vault.member(named: name))
      #expect(member.recordCount == known.records.count)
      for record in known.records { try expect(record, in: member) }
    }
  }

  private func less(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool { lhs.lexicographicallyPrecedes(rhs) }

  private func expect(_ record: FrozenVault.Expected.Record, in member: Member) throws {
    var place = RecordID.root
    for part in record.path {
      let child = member.children(of: place).first { $0.title.bytes == part.bytes }
      place = try #require(child).record
    }
    let entry = try #require(member.entry(place))
    #expect(entry.mode == record.mode & 0o7777)
    let items = try member.items(of: try member.revision(entry.revision))
    #expect(items.count == record.items.count)
    for known in record.items {
      let item = try #require(items.first { $0.name.bytes == known.name.bytes })
      try expect(known, item, in: member)
    }
  }

  private func expect(
    _ known: FrozenVault.Expected.Item, _ item: Item, in member: Member
  ) throws {
    #expect(item.mode == known.mode)
    #expect([item.modified.seconds, Int64(item.modified.nanoseconds)] == known.modified)
    #expect((known.links > 1) == !item.linkRecords.isEmpty)
    if let target = known.target { #expect(item.content == .symlink(target.bytes)) }
    if let xattrs = known.xattrs {
      let found = item.xattrs.map {
        (String(decoding: $0.name, as: UTF8.self), Hex.encode($0.value))
      }
      #expect(Dictionary(uniqueKeysWithValues: found) == xattrs)
    }
    if let size = known.size, let hash = known.sha256 {
      #expect(item.size == size)
      #expect(Digest.sha256(try member.beginning(of: item, byteCount: Int(size))).hex == hash)
    }
  }
}
