import TestSupport
import Testing
import Threads
import VaultModel

@testable import Vault

/// A deleted record comes back with names of files that have others: a file's content is one thing under all of them.
struct NamesThatComeBackTests {
  private func place(
    _ record: RecordID, _ title: String, isDeleted: Bool = false
  ) throws -> RecordEdit {
    let title = try #require(FileName(title))
    return RecordEdit(
      record: record, place: RecordPlace(parent: .root, title: title, isDeleted: isDeleted))
  }

  private func note(_ record: RecordID, _ text: String) -> RecordEdit {
    RecordEdit(record: record, items: [.record: .note(text)])
  }

  /// A file that is written anew in its place.
  private func edit(
    _ name: String, of record: RecordID, _ text: String, on device: Replicas.Replica
  ) throws -> RecordEdit {
    let member = try device.member
    var item = try Item.file(name, Array(text.utf8), in: member)
    let old = try member.item(named: item.name, in: record)
    item.file = try #require(old).file
    item.linkRecords = try #require(old).linkRecords
    return RecordEdit(record: record, items: [item.name: item])
  }

  /// One more name of a file in its record, as a mount gives it: the file stays as it is.
  private func link(
    _ name: String, as other: String, in record: RecordID, on device: Replicas.Replica
  ) throws -> RecordEdit {
    let names = try [#require(FileName(name)), #require(FileName(other))]
    let found = try device.member.item(named: names[0], in: record)
    let old = try #require(found)
    var edit = RecordEdit(record: record)
    for name in names {
      var item = old.knowing([record])
      item.name = name
      edit.items[name] = item
      edit.unchangedFiles[name] = old.changed
    }
    return edit
  }

  private func expectShown(
    _ texts: [String: String], in record: RecordID, of replicas: Replicas
  ) throws {
    let expected = try replicas[0].contents()
    for device in replicas.devices {
      #expect(try device.contents() == expected)
      let member = try device.member
      #expect(member.state.withLock { !$0.manifest.hasConflicts })
      for (name, text) in texts {
        #expect(try member.bytes(of: name, in: record) == Array(text.utf8), "\(name)")
      }
    }
  }

  /// One device gives a file a second name and deletes its record, another one has edited the file and knows no second name.
  /// Later somebody takes back an older version of the note, and with it the record.
  @Test(arguments: [[0, 1], [1, 0]])
  func ofARecordThatIsTakenBackNamesAgree(order: [Int]) throws {
    var visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 3)
    let (desk, laptop) = (replicas[0], replicas[1])
    let scan = try Item.file("scan.txt", Array("old".utf8), in: desk.member)
    visit.items[scan.name] = scan
    try desk.commit(visit)
    try replicas.everyoneMeets()
    try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
    try desk.commit(link("scan.txt", as: "same.txt", in: visit.record, on: desk))
    try desk.commit(place(visit.record, "Visit", isDeleted: true))
    laptop.clock.advance(days: 1)
    try laptop.commit(edit("scan.txt", of: visit.record, "new", on: laptop))
    for source in order { try replicas.carry(from: source, to: 2) }
    try replicas.everyoneMeets()
    let member = try desk.member
    #expect(member.entry(visit.record)?.isDeleted == true)
    let kept = try member.keptConflicts()
    #expect(kept.count == 2)
    let conflict = try #require(kept.first { $0.items.map(\.name) == [.record] })
    try desk.commit(member.edits(takingBack: conflict))
    try replicas.everyoneMeets()
    try expectShown(
      ["record.md": "from desk", "scan.txt": "new", "same.txt": "new"], in: visit.record,
      of: replicas)
    // The version that the deletion has taken away is kept still, and nothing else.
    #expect(try member.keptConflicts().count == 1)
  }

  /// One device deletes a record with one of two names of a file and then edits the other; another one has moved the record later.
  @Test func ofARecordThatAJoinBringsBackNamesAgree() throws {
    let replicas = try Replicas(count: 3)
    let (desk, laptop) = (replicas[0], replicas[1])
    var visit = RecordEdit.newRecord("Visit", note: "visit")
    var result = RecordEdit.newRecord("Result", note: "result")
    var scan = try Item.file("scan.txt", Array("old".utf8), in: desk.member)
    scan.linkRecords = [visit.record, result.record].sorted()
    visit.items[scan.name] = scan
    result.items[scan.name] = scan
    (visit.hasAllNames, result.hasAllNames) = (true, true)
    try desk.commit(visit, result)
    try replicas.everyoneMeets()
    try desk.commit(place(visit.record, "Visit", isDeleted: true))
    try desk.commit(edit("scan.txt", of: result.record, "new", on: desk))
    laptop.clock.advance(days: 1)
    try laptop.commit(place(visit.record, "Visit of May"))
    try replicas.everyoneMeets()
    let member = try desk.member
    #expect(member.entry(visit.record)?.isDeleted == false)
    for record in [visit.record, result.record] {
      try expectShown(["scan.txt": "new"], in: record, of: replicas)
    }
    #expect(try member.keptConflicts().isEmpty)
  }
}
