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
    let (visit, result) = try records(sharing: "scan.txt", on: desk)
    try replicas.everyoneMeets()
    try desk.commit(place(visit, "Visit", isDeleted: true))
    try desk.commit(edit("scan.txt", of: result, "new", on: desk))
    laptop.clock.advance(days: 1)
    try laptop.commit(place(visit, "Visit of May"))
    try replicas.everyoneMeets()
    let member = try desk.member
    #expect(member.entry(visit)?.isDeleted == false)
    for record in [visit, result] {
      try expectShown(["scan.txt": "new"], in: record, of: replicas)
    }
    #expect(try member.keptConflicts().isEmpty)
  }

  /// A file has a name in each of two records, and both are deleted. Then each of two devices brings one of them back.
  @Test(arguments: [[0, 1], [1, 0]])
  func ofTwoRecordsThatTwoDevicesBringBackNamesAgree(order: [Int]) throws {
    let replicas = try Replicas(count: 3)
    let (desk, laptop, tablet) = (replicas[0], replicas[1], replicas[2])
    let (visit, result) = try records(sharing: "scan.txt", on: desk)
    try replicas.everyoneMeets()
    try desk.commit(place(visit, "Visit", isDeleted: true))
    try laptop.commit(place(result, "Result", isDeleted: true))
    tablet.clock.advance(days: 1)
    try tablet.commit(edit("scan.txt", of: visit, "new", on: tablet))
    for source in [0, 1] { try replicas.carry(from: source, to: 2) }
    try replicas.everyoneMeets()
    try desk.commit(place(visit, "Visit"))
    try laptop.commit(place(result, "Result"))
    for source in order { try replicas.carry(from: source, to: 2) }
    try replicas.everyoneMeets()
    let shown = try desk.member.bytes(of: "scan.txt", in: visit)
    #expect(try [Array("old".utf8), Array("new".utf8)].contains(#require(shown)))
    let text = String(decoding: shown ?? [], as: UTF8.self)
    for record in [visit, result] { try expectShown(["scan.txt": text], in: record, of: replicas) }
    // What does not show is kept.
    let kept = try desk.member.keptConflicts()
    #expect(text == "new" || kept.contains { $0.items.contains { $0.name.string == "scan.txt" } })
  }

  /// `ln` gives a file one more name in a record that another device deletes meanwhile, while a third one edits the file.
  @Test func aNameInARecordThatIsTakenBackAgreesWithTheOthers() throws {
    let replicas = try Replicas(count: 3)
    let (desk, laptop, tablet) = (replicas[0], replicas[1], replicas[2])
    let visit = RecordEdit.newRecord("Visit", note: "visit")
    var result = RecordEdit.newRecord("Result", note: "result")
    let scan = try Item.file("scan.txt", Array("old".utf8), in: desk.member)
    result.items[scan.name] = scan
    try desk.commit(visit, result)
    try replicas.everyoneMeets()
    try desk.commit(linkAcross("scan.txt", of: result.record, into: visit.record, on: desk))
    try laptop.commit(place(visit.record, "Visit", isDeleted: true))
    tablet.clock.advance(days: 1)
    try tablet.commit(edit("scan.txt", of: result.record, "new", on: tablet))
    try replicas.everyoneMeets()
    let member = try desk.member
    // It was given a name beside its deletion, which is the later one.
    #expect(member.entry(visit.record)?.isDeleted == true)
    try desk.commit(place(visit.record, "Visit"))
    try replicas.everyoneMeets()
    try expectShown(["scan.txt": "new"], in: result.record, of: replicas)
    if try member.bytes(of: "scan.txt", in: visit.record) == nil {
      let conflict = try #require(
        member.keptConflicts().first { $0.items.contains { $0.name.string == "scan.txt" } })
      try desk.commit(member.edits(takingBack: conflict))
      try replicas.everyoneMeets()
    }
    for record in [visit.record, result.record] {
      try expectShown(["scan.txt": "new"], in: record, of: replicas)
    }
  }

  /// Two records with a name each of one file.
  private func records(
    sharing name: String, on device: Replicas.Replica
  ) throws -> (RecordID, RecordID) {
    var visit = RecordEdit.newRecord("Visit", note: "visit")
    var result = RecordEdit.newRecord("Result", note: "result")
    var file = try Item.file(name, Array("old".utf8), in: device.member)
    file.linkRecords = [visit.record, result.record].sorted()
    visit.items[file.name] = file
    result.items[file.name] = file
    (visit.hasAllNames, result.hasAllNames) = (true, true)
    try device.commit(visit, result)
    return (visit.record, result.record)
  }

  /// One more name of a file, in another record, as `ln` gives it in a mount.
  private func linkAcross(
    _ name: String, of record: RecordID, into other: RecordID, on device: Replicas.Replica
  ) throws -> [RecordEdit] {
    let found = try device.member.item(named: #require(FileName(name)), in: record)
    let old = try #require(found)
    let item = old.knowing([record, other].sorted())
    return [record, other].map { record in
      var edit = RecordEdit(record: record)
      edit.items[item.name] = item
      edit.unchangedFiles[item.name] = old.changed
      edit.hasAllNames = true
      return edit
    }
  }
}
