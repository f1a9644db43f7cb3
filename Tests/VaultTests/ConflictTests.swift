import BlobStore
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// What devices do to one record without knowing of each other, and what everyone then sees.
struct ConflictTests {
  private func note(_ record: RecordID, _ text: String) -> RecordEdit {
    RecordEdit(record: record, items: [.record: .note(text)])
  }

  private func place(
    _ record: RecordID, _ title: String, in parent: RecordID = .root, isDeleted: Bool = false
  ) -> RecordEdit {
    RecordEdit(
      record: record,
      place: RecordPlace(parent: parent, title: FileName(title) ?? .record, isDeleted: isDeleted))
  }

  private func expectAgreement(_ replicas: Replicas) throws {
    let expected = try replicas[0].contents()
    for device in replicas.devices {
      #expect(try device.contents() == expected)
      #expect(try device.member.state.withLock { !$0.manifest.hasConflicts })
    }
  }

  @Test func theLaterNoteWinsAndTheOtherIsKeptOnce() throws {
    let replicas = try Replicas(count: 3)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(note(visit.record, "from desk"))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "from laptop"))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    for device in replicas.devices {
      #expect(
        try device.member.bytes(of: "record.md", in: visit.record) == Array("from laptop".utf8))
      let conflicts = try device.conflicts
      #expect(conflicts.count == 1)
      let copy = try #require(conflicts.first)
      #expect(copy.title.string.hasPrefix("Visit - offline conflict 2023-11-14 22"))
      #expect(try device.member.bytes(of: "record.md", in: copy.record) == Array("from desk".utf8))
      let revision = try device.member.revision(copy.revision)
      let mark = try #require(ConflictMark(revision.attributes.xattrs))
      #expect(mark.record == visit.record)
      #expect(mark.device == replicas[0].vault.device)
    }
  }

  @Test func changesOfDifferentFilesMergeWithoutAConflict() throws {
    let replicas = try Replicas(count: 2)
    let scan = RecordEdit.newRecord("Scan", note: "note")
    try replicas[0].commit(scan)
    try replicas.everyoneMeets()
    for (number, name) in ["front.jpg", "back.jpg"].enumerated() {
      let item = try Item.file(name, Array(name.utf8), in: replicas[number].member)
      try replicas[number].commit(RecordEdit(record: scan.record, items: [item.name: item]))
    }
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let member = try replicas[0].member
    #expect(try member.bytes(of: "front.jpg", in: scan.record) == Array("front.jpg".utf8))
    #expect(try member.bytes(of: "back.jpg", in: scan.record) == Array("back.jpg".utf8))
    #expect(try replicas[0].conflicts.isEmpty)
  }

  @Test func ofADeletionAndAnEditTheDeletionCompletesAndTheEditIsKeptWhole() throws {
    let replicas = try Replicas(count: 2)
    var visit = RecordEdit.newRecord("Visit", note: "old")
    let photo = try Item.file("photo.jpg", [1, 2, 3], in: replicas[0].member)
    visit.items[photo.name] = photo
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(visit.record, "Visit", isDeleted: true))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "new"))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let device = replicas[0]
    #expect(try device.member.entry(visit.record)?.isDeleted == true)
    let copy = try #require(try device.conflicts.first)
    #expect(try device.conflicts.count == 1)
    #expect(try device.member.bytes(of: "record.md", in: copy.record) == Array("new".utf8))
    #expect(try device.member.bytes(of: "photo.jpg", in: copy.record) == [1, 2, 3])
  }

  /// A version and the join of it with another one have one time and one device, and are two versions.
  @Test func whatWasJoinedElsewhereIsKeptBesideWhatItWasJoinedOf() throws {
    let replicas = try Replicas(count: 3)
    var visit = RecordEdit.newRecord("Visit", note: "old")
    for name in ["a.txt", "b.txt"] {
      let item = try Item.file(name, Array("old \(name)".utf8), in: replicas[0].member)
      visit.items[item.name] = item
    }
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    for (number, name) in ["a.txt", "b.txt"].enumerated() {
      replicas[number].clock.advance(days: UInt64(number + 1))
      let item = try Item.file(name, Array("new \(name)".utf8), in: replicas[number].member)
      try replicas[number].commit(RecordEdit(record: visit.record, items: [item.name: item]))
    }
    replicas[2].clock.advance(days: 3)
    try replicas[2].commit(place(visit.record, "Visit", isDeleted: true))
    // One keeps the second version whole; the other one joins both before it hears of the deletion.
    try replicas.carry(from: 1, to: 2)
    try replicas.carry(from: 1, to: 0)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let member = try replicas[0].member
    #expect(member.entry(visit.record)?.isDeleted == true)
    var kept: Set<String> = []
    for copy in try replicas[0].conflicts {
      for name in ["a.txt", "b.txt"] {
        let bytes = try member.bytes(of: name, in: copy.record) ?? []
        kept.insert(String(decoding: bytes, as: UTF8.self))
      }
    }
    #expect(kept == ["old a.txt", "new a.txt", "new b.txt"])
  }

  @Test func twoVersionsOfOneInstantAreKeptBesideEachOther() throws {
    let device = try Replicas(count: 1)[0]
    let member = try device.member
    let visit = RecordEdit.newRecord("Visit", note: "note")
    try device.commit(visit)
    let entry = try #require(member.entry(visit.record))
    let mark = ConflictMark(record: visit.record, device: entry.device, time: entry.time)
    let items = ["one", "other"].map { text in
      var item = Item.note(text)
      item.time = mark.time
      return item
    }
    for item in items + items {
      let copy = ConflictCopy(mark: mark, title: entry.title, items: [item])
      try member.withWriter { (writer, _) throws(VaultError) in
        try writer.keep(copy)
        _ = try writer.finish()
      }
    }
    let kept = try device.conflicts.map { try member.bytes(of: "record.md", in: $0.record) }
    #expect(Set(kept) == [Array("one".utf8), Array("other".utf8)])
    #expect(kept.count == 2)
  }

  /// One device keeps what the record was called, another one its note, of one version that lost twice.
  @Test func aNameAndANoteThatLostApartAreBothKept() throws {
    let replicas = try Replicas(count: 3)
    let visit = RecordEdit.newRecord("Visit", note: "old")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    var both = place(visit.record, "Checkup")
    both.items = note(visit.record, "from desk").items
    try replicas[0].commit(both)
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "later"))
    replicas[2].clock.advance(days: 2)
    try replicas[2].commit(place(visit.record, "Control"))
    try replicas.carry(from: 0, to: 1)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let kept = try replicas[0].conflicts.map { copy in
      #expect(copy.title.string.hasPrefix("Checkup - offline conflict"))
      return try replicas[0].member.bytes(of: "record.md", in: copy.record)
    }
    #expect(kept.count == 2)
    #expect(kept.contains(Array("from desk".utf8)))
  }

  @Test func aDeletionAloneLeavesNoConflict() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "old")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(visit.record, "Visit", isDeleted: true))
    // The other one only looks at it, which changes its times.
    try replicas[1].commit(
      RecordEdit(record: visit.record, attributes: RecordAttributes(mode: 0o750)))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try replicas[0].member.entry(visit.record)?.isDeleted == true)
    #expect(try replicas[0].conflicts.isEmpty)
  }

  @Test func aRecordEditedFourTimesKeepsItsLastSyncedVersion() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "synced")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    for number in 1...4 { try replicas[0].commit(note(visit.record, "draft \(number)")) }
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "later"))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let member = try replicas[0].member
    let kept = try replicas[0].conflicts.map {
      String(decoding: try member.bytes(of: "record.md", in: $0.record) ?? [], as: UTF8.self)
    }
    #expect(Set(kept) == ["draft 4", "synced"])
  }

  @Test func twoNamesForOneRecordKeepTheOtherAsANote() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "text")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(visit.record, "Dentist"))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(place(visit.record, "Check-up"))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try replicas[0].member.entry(visit.record)?.title.string == "Check-up")
    let copy = try #require(try replicas[0].conflicts.first)
    #expect(copy.title.string.hasPrefix("Dentist - offline conflict "))
    let text = try replicas[0].member.bytes(of: "record.md", in: copy.record) ?? []
    #expect(String(decoding: text, as: UTF8.self).contains("\nDentist\n"))
  }

  @Test func aCopyThatSomeoneThrewAwayDoesNotComeBack() throws {
    let replicas = try Replicas(count: 3)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(note(visit.record, "one"))
    try replicas[1].commit(note(visit.record, "two"))
    // The first joins and throws the copy away before the third has heard of any of it.
    try replicas.carry(from: 1, to: 0)
    let copy = try #require(try replicas[0].conflicts.first)
    replicas[0].clock.advance(days: 1)
    try replicas[0].commit(
      RecordEdit(
        record: copy.record,
        place: RecordPlace(parent: copy.parent, title: copy.title, isDeleted: true)))
    try replicas.carry(from: 1, to: 2)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try replicas[2].conflicts.isEmpty)
  }

  @Test func aRecordPutIntoADeletedOneShowsInTheMember() throws {
    let replicas = try Replicas(count: 2)
    let folder = RecordEdit.newRecord("Vaccines")
    try replicas[0].commit(folder)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(folder.record, "Vaccines", isDeleted: true))
    let shot = RecordEdit.newRecord("Measles", in: folder.record, note: "second shot")
    try replicas[1].commit(shot)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    for device in replicas.devices {
      let shown = try device.member.children(of: .root).map(\.record)
      #expect(shown.contains(shot.record))
    }
  }

  @Test func twoMovesIntoEachOtherStayReachable() throws {
    let replicas = try Replicas(count: 2)
    let (a, b) = (RecordEdit.newRecord("A"), RecordEdit.newRecord("B"))
    try replicas[0].commit(a, b)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(a.record, "A", in: b.record))
    try replicas[1].commit(place(b.record, "B", in: a.record))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let paths = try replicas[0].contents().keys
    #expect(paths.contains { $0.contains("/A[") })
    #expect(paths.contains { $0.contains("/B[") })
  }

  @Test func anEditOnTopOfWhatItsAuthorNeverSawKeepsThat() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    let member = try replicas[1].member
    let entry = try #require(member.entry(visit.record))
    let seen = try #require(try member.items(of: member.revision(entry.revision)).first)
    try replicas[0].commit(note(visit.record, "from desk"))
    try replicas.carry(from: 0, to: 1)
    var edit = note(visit.record, "typed meanwhile")
    edit.seen[.record] = seen.time
    try replicas[1].commit(edit)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(
      try member.bytes(of: "record.md", in: visit.record) == Array("typed meanwhile".utf8))
    let copy = try #require(try replicas[0].conflicts.first)
    #expect(try member.bytes(of: "record.md", in: copy.record) == Array("from desk".utf8))
  }

  @Test func aVersionTakenBackIsTheRecordAgainEverywhere() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas[0].commit(place(visit.record, "Visit", isDeleted: true))
    try replicas[1].commit(note(visit.record, "wanted"))
    try replicas.everyoneMeets()
    let member = try replicas[0].member
    let conflict = try #require(try member.keptConflicts().first)
    #expect(conflict.original?.isDeleted == true)
    #expect(conflict.mark.device == replicas[1].vault.device)
    #expect(try member.commit(member.edits(takingBack: conflict)).failures.isEmpty)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let other = try replicas[1].member
    #expect(other.entry(visit.record)?.isDeleted == false)
    #expect(try other.bytes(of: "record.md", in: visit.record) == Array("wanted".utf8))
    #expect(try other.keptConflicts().isEmpty)
  }

  /// Nor is the copy gone then.
  @Test func aVersionThatIsNotWholeIsNotTakenBack() throws {
    let replicas = try Replicas(count: 2)
    let scan = RecordEdit.newRecord("Scan", note: "note")
    try replicas[0].commit(scan)
    try replicas.everyoneMeets()
    for number in 0..<2 {
      replicas[number].clock.advance(days: UInt64(number))
      let content = [UInt8](repeating: UInt8(number), count: 100_000)
      let item = try Item.file("scan.tif", content, in: replicas[number].member)
      try replicas[number].commit(RecordEdit(record: scan.record, items: [item.name: item]))
    }
    try replicas.everyoneMeets()
    let device = replicas[0]
    let member = try device.member
    let conflict = try #require(try member.keptConflicts().first)
    let edits = try member.edits(takingBack: conflict)
    let chunk = try #require(try member.chunks(of: conflict.items[0].content).first ?? nil)
    try device.store.remove(BlobPath(member.objects.path(of: chunk).string))
    let before = try device.member.children(of: member.conflictFolder)
    #expect(throws: VaultError.self) { try device.vault.commit(edits, to: member) }
    #expect(member.children(of: member.conflictFolder) == before)
    #expect(member.entry(scan.record)?.revision == conflict.original?.revision)
  }

  @Test func aDeviceThatRenamesItselfIsCalledSoElsewhere() throws {
    let replicas = try Replicas(count: 2)
    try replicas[1].vault.renameDevice(to: "Kitchen laptop")
    try replicas.everyoneMeets()
    let devices = try replicas[0].vault.devices()
    #expect(devices.first?.isThisOne == true)
    #expect(devices.contains { $0.profile?.deviceName == "Kitchen laptop" && !$0.isThisOne })
    #expect(replicas[0].vault.name(of: replicas[1].vault.device) == "Kitchen laptop")
  }

  @Test func aClockAheadIsNoticedAndFreezesNothing() throws {
    let replicas = try Replicas(count: 2)
    replicas[1].clock.advance(days: 3650)
    let visit = RecordEdit.newRecord("Visit", note: "from the future")
    try replicas[1].commit(visit)
    try replicas.everyoneMeets()
    #expect(replicas[0].vault.clocksAhead().keys.contains(replicas[1].vault.device))
    try replicas[0].commit(note(visit.record, "written after it"))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    // It writes later times too now, and does not accuse itself.
    #expect(Array(replicas[0].vault.clocksAhead().keys) == [replicas[1].vault.device])
    let text = try replicas[1].member.bytes(of: "record.md", in: visit.record)
    #expect(text == Array("written after it".utf8))
  }

  @Test func aHeadThatArrivesBeforeWhatItNamesWaits() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    let (source, target) = (replicas[0].store, replicas[1].store)
    let member = try replicas[1].member
    let head = member.register.path(of: replicas[0].vault.device).string
    try target.replace(
      .init(head), source.read(.init(head), limit: 1 << 20), durably: false)
    #expect(try member.refresh().isEmpty)
    #expect(member.entry(visit.record) == nil)
    try Replicas.carry(from: source, to: target)
    #expect(try member.refresh().contains(visit.record))
  }
}
