import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

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
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 3, with: visit)
    try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
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

  /// Somebody is asked whether an older version is to come back, and another device changes the record meanwhile.
  @Test func whatComesWhileAnOlderVersionIsBroughtBackIsKept() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
    let desk = replicas[0]
    let first = try desk.member.revision(#require(desk.member.entry(visit.record)).revision)
    try desk.commit(note(visit.record, "second"))
    try replicas.everyoneMeets()
    let edit = try RecordRestore(desk.member).edit(of: visit.record, to: first)
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "from laptop"))
    try replicas.carry(from: 1, to: 0)
    desk.clock.advance(days: 2)
    try desk.commit(edit)
    #expect(try desk.member.bytes(of: "record.md", in: visit.record) == Array("at first".utf8))
    let copies = try desk.conflicts
    #expect(copies.count == 1)
    let copy = try #require(copies.first)
    #expect(try desk.member.bytes(of: "record.md", in: copy.record) == Array("from laptop".utf8))
  }

  @Test func changesOfDifferentFilesMergeWithoutAConflict() throws {
    let scan = RecordEdit.newRecord("Scan", note: "note")
    let replicas = try Replicas(count: 2, with: scan)
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
    try replicas.change(
      place(visit.record, "Visit", isDeleted: true), then: note(visit.record, "new"))
    try expectAgreement(replicas)
    let device = replicas[0]
    #expect(try device.member.entry(visit.record)?.isDeleted == true)
    let copy = try #require(try device.conflicts.first)
    #expect(try device.conflicts.count == 1)
    #expect(try device.member.bytes(of: "record.md", in: copy.record) == Array("new".utf8))
    #expect(try device.member.bytes(of: "photo.jpg", in: copy.record) == [1, 2, 3])
  }

  /// What both go on from is damaged on one of the disks: that one joins without it, and keeps what lost.
  @Test func aDamagedVersionOfBeforeKeepsNothingFromBeingJoined() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
    let desk = replicas[0]
    let entry = try #require(desk.member.entry(visit.record))
    let before = try desk.member.objects.path(of: entry.revision)
    try desk.commit(note(visit.record, "from desk"))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "from laptop"))
    var bytes = try desk.store.read(before, limit: 1 << 20)
    bytes[bytes.count / 2] ^= 1
    try desk.store.replace(before, bytes, durably: true)
    try desk.member.revisions.withLock { $0.removeAll() }
    try replicas.carry(from: 1, to: 0)
    #expect(try desk.member.bytes(of: "record.md", in: visit.record) == Array("from laptop".utf8))
    let copies = try desk.conflicts
    #expect(copies.count == 1)
    let copy = try #require(copies.first)
    #expect(try desk.member.bytes(of: "record.md", in: copy.record) == Array("from desk".utf8))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
  }

  /// The same of a part of its list of files.
  @Test func aDamagedListOfBeforeKeepsNothingFromBeingJoined() throws {
    let replicas = try Replicas(count: 2)
    let desk = replicas[0]
    var visit = RecordEdit.newRecord("Visit", note: "at first")
    for number in 0..<100 {
      let item = try Item.file("scan \(number).jpg", [UInt8(number)], in: desk.member)
      visit.items[item.name] = item
    }
    try desk.commit(visit)
    try replicas.everyoneMeets()
    let entry = try #require(desk.member.entry(visit.record))
    try desk.member.revisions.withLock { $0.removeAll() }
    let page = try #require(desk.member.revision(entry.revision).items.rootPage)
    for (number, device) in replicas.devices.enumerated() {
      device.clock.advance(days: UInt64(number))
      let item = try Item.file("scan 7.jpg", [200, UInt8(number)], in: device.member)
      try device.commit(RecordEdit(record: visit.record, items: [item.name: item]))
    }
    try desk.store.remove(desk.member.objects.path(of: page))
    try replicas[1].store.remove(desk.member.objects.path(of: page))
    for device in replicas.devices {
      try device.member.revisions.withLock { $0.removeAll() }
    }
    try replicas.carry(from: 1, to: 0)
    #expect(try desk.member.bytes(of: "scan 7.jpg", in: visit.record) == [200, 1])
    let copy = try #require(try desk.conflicts.first)
    #expect(try desk.member.bytes(of: "scan 7.jpg", in: copy.record) == [200, 0])
  }

  /// The note that loses is damaged here, or not here yet: the copy names it all the same, and shows it as soon as it is.
  @Test(arguments: [true, false])
  func whatLosesIsKeptThoughItCannotBeRead(isThere: Bool) throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
    let (desk, laptop) = (replicas[0], replicas[1])
    let item = try Item.file("record.md", Array("from desk".utf8), in: desk.member)
    try desk.commit(RecordEdit(record: visit.record, items: [.record: item]))
    laptop.clock.advance(days: 1)
    try laptop.commit(note(visit.record, "from laptop"))
    try Replicas.carry(from: desk.store, to: laptop.store)
    let chunk = try #require(try desk.member.chunks(of: item.content).first ?? nil)
    let path = try laptop.member.objects.path(of: chunk)
    let bytes = try laptop.store.read(path, limit: 1 << 20)
    try laptop.store.remove(path)
    if isThere { try laptop.store.replace(path, Array(bytes.dropLast()), durably: true) }
    _ = try laptop.member.refresh()
    _ = try laptop.member.joinConcurrent()
    #expect(try laptop.member.bytes(of: "record.md", in: visit.record) == Array("from laptop".utf8))
    try laptop.store.replace(path, bytes, durably: true)
    let copy = try #require(try laptop.conflicts.first)
    #expect(try laptop.member.bytes(of: "record.md", in: copy.record) == Array("from desk".utf8))
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
    let visit = RecordEdit.newRecord("Visit", note: "old")
    let replicas = try Replicas(count: 3, with: visit)
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

  private func file(_ name: String, _ text: String, in member: Member) throws -> Item {
    try .file(name, Array(text.utf8), in: member)
  }

  private func keptTexts(_ replica: Replicas.Replica) throws -> Set<String> {
    var kept: Set<String> = []
    for copy in try replica.conflicts {
      for item in try replica.member.items(of: replica.member.revision(copy.revision)) {
        let bytes = try replica.member.beginning(of: item, byteCount: Int(item.size))
        kept.insert(String(decoding: bytes, as: UTF8.self))
      }
    }
    return kept
  }

  /// One version loses in two joins; who threw the copy of the first away has not seen what the second would keep in it.
  @Test(arguments: [false, true])
  func whatWasThrownAwayDoesNotSwallowTheRestOfTheVersion(isKeptElsewhere: Bool) throws {
    let replicas = try Replicas(count: 3)
    let visit = RecordEdit.newRecord("Visit", note: "note")
    try replicas[0].commit(visit)
    var first = RecordEdit(record: visit.record)
    for name in ["f", "g"] {
      let item = try file(name, "old \(name)", in: replicas[0].member)
      first.items[item.name] = item
    }
    try replicas[0].commit(first)
    try replicas.everyoneMeets()
    var both = RecordEdit(record: visit.record)
    for name in ["f", "g"] {
      let item = try file(name, "first \(name)", in: replicas[0].member)
      both.items[item.name] = item
    }
    try replicas[0].commit(both)
    for (number, name) in [(1, "f"), (2, "g")] {
      replicas[number].clock.advance(days: UInt64(number))
      let item = try file(name, "later \(name)", in: replicas[number].member)
      try replicas[number].commit(RecordEdit(record: visit.record, items: [item.name: item]))
    }
    // The third keeps the other part before it hears of the copy that is thrown away.
    if isKeptElsewhere { try replicas.carry(from: 0, to: 2) }
    try replicas.carry(from: 0, to: 1)
    let member = try replicas[1].member
    let conflict = try #require(try member.keptConflicts().first)
    #expect(try keptTexts(replicas[1]) == ["first f"])
    try replicas[1].commit(member.edits(discarding: conflict))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try keptTexts(replicas[0]).contains("first g"))
    #expect(try !keptTexts(replicas[0]).contains("first f"))
  }

  /// Another device edits a file that is moved here. The join brings the edit under the new name, and a program here that
  /// writes the file has not seen it.
  @Test func whatAJoinBroughtUnderAnotherNameIsNoWorkOfThisDevice() throws {
    let replicas = try Replicas(count: 2)
    let (from, to) = (RecordEdit.newRecord("From"), RecordEdit.newRecord("To"))
    var file = try file("n", "at first", in: replicas[0].member)
    try replicas[0].commit(from, to, RecordEdit(record: from.record, items: [file.name: file]))
    try replicas.everyoneMeets()
    let stored = try #require(
      try replicas[1].member.item(named: file.name, in: from.record))
    file = try self.file("n", "theirs", in: replicas[0].member)
    file.file = stored.file
    replicas[0].clock.advance(days: 1)
    try replicas[0].commit(RecordEdit(record: from.record, items: [file.name: file]))
    replicas[1].clock.advance(days: 2)
    var moved = RecordEdit(record: to.record, items: [file.name: stored])
    moved.unchangedFiles[file.name] = stored.changed
    var left = RecordEdit(record: from.record)
    left.items.updateValue(nil, forKey: file.name)
    (moved.hasAllNames, left.hasAllNames) = (true, true)
    try replicas[1].commit(left, moved)
    var own = RecordEdit(record: to.record)
    own.items[file.name] = try self.file("n", "ours", in: replicas[1].member)
    own.items[file.name]??.file = stored.file
    own.seen[file.name] = SeenFile(stored)
    try Replicas.carry(from: replicas[0].store, to: replicas[1].store)
    try replicas[1].commit(own)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(
      try replicas[0].member.bytes(of: "n", in: to.record) == Array("ours".utf8))
    #expect(try keptTexts(replicas[0]) == ["theirs"])
  }

  /// Anybody can set the mark of a conflict's copy, and a program that copies files with their attributes does.
  @Test func aMarkSilencesNoConflict() throws {
    let replicas = try Replicas(count: 2)
    var visit = RecordEdit.newRecord("Visit", note: "old")
    let mark = ConflictMark(
      record: .random(), device: replicas[0].vault.device, time: .last)
    visit.attributes?.xattrs = [mark.xattr]
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
    #expect(try keptTexts(replicas[0]) == ["from desk"])
    try replicas.change(
      note(visit.record, "again from desk"), then: place(visit.record, "Visit", isDeleted: true))
    try expectAgreement(replicas)
    #expect(try keptTexts(replicas[0]).isSuperset(of: ["again from desk"]))
  }

  /// An editor who gives an owner's file the id of a copy's, and the record a mark of the end of time.
  @Test func nobodySilencesConflictsByWhatACopyIsToldBy() throws {
    let replicas = try Replicas(count: 2)
    var visit = RecordEdit.newRecord("Visit", note: "note")
    let mark = ConflictMark(
      record: .random(), device: replicas[0].vault.device, time: .last)
    visit.attributes?.xattrs = [mark.xattr]
    func scan(_ text: String, by number: Int) throws -> RecordEdit {
      var item = try file("scan", text, in: replicas[number].member)
      item.file = ConflictCopy.file(named: item.name, in: visit.record)
      return RecordEdit(record: visit.record, items: [item.name: item])
    }
    try replicas[0].commit(visit)
    try replicas[0].commit(scan("old", by: 0))
    try replicas.everyoneMeets()
    try replicas[0].commit(scan("an owner's", by: 0))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(scan("an editor's", by: 1))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try keptTexts(replicas[0]) == ["an owner's"])
  }

  /// A program that saves by renaming changes the time of a directory, and nothing else of it.
  @Test func attributesAreNotLostToATouch() throws {
    let visit = RecordEdit.newRecord("Visit", note: "note")
    let replicas = try Replicas(count: 2, with: visit)
    let comment = Xattr(name: Array("user.xdg.comment".utf8), value: Array("broken arm".utf8))
    try replicas[0].commit(
      RecordEdit(
        record: visit.record, attributes: RecordAttributes(mode: 0o750, xattrs: [comment])))
    replicas[1].clock.advance(days: 1)
    var touch = RecordEdit(record: visit.record)
    let now: UInt64 = replicas[1].clock.wallClock.milliseconds()
    touch.modified = RecordEdit.Touch(
      time: FileTimestamp(seconds: Int64(now / 1000), nanoseconds: 0))
    try replicas[1].commit(touch)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let entry = try #require(try replicas[1].member.entry(visit.record))
    let attributes = try replicas[1].member.revision(entry.revision).attributes
    #expect(attributes.mode == 0o750 && attributes.xattrs == [comment])
  }

  @Test func aDeletionAloneLeavesNoConflict() throws {
    let visit = RecordEdit.newRecord("Visit", note: "old")
    let replicas = try Replicas(count: 2, with: visit)
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
    let visit = RecordEdit.newRecord("Visit", note: "synced")
    let replicas = try Replicas(count: 2, with: visit)
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
    let visit = RecordEdit.newRecord("Visit", note: "text")
    let replicas = try Replicas(count: 2, with: visit)
    try replicas.change(place(visit.record, "Dentist"), then: place(visit.record, "Check-up"))
    try expectAgreement(replicas)
    #expect(try replicas[0].member.entry(visit.record)?.title.string == "Check-up")
    let copy = try #require(try replicas[0].conflicts.first)
    #expect(copy.title.string.hasPrefix("Dentist - offline conflict "))
    let text = try replicas[0].member.bytes(of: "record.md", in: copy.record) ?? []
    #expect(String(decoding: text, as: UTF8.self).contains("\nDentist\n"))
  }

  @Test func aCopyThatSomeoneThrewAwayDoesNotComeBack() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 3, with: visit)
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
    let folder = RecordEdit.newRecord("Vaccines")
    let replicas = try Replicas(count: 2, with: folder)
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
    let (a, b) = (RecordEdit.newRecord("A"), RecordEdit.newRecord("B"))
    let replicas = try Replicas(count: 2, with: a, b)
    try replicas[0].commit(place(a.record, "A", in: b.record))
    try replicas[1].commit(place(b.record, "B", in: a.record))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    let paths = try replicas[0].contents().keys
    #expect(paths.contains { $0.contains("/A[") })
    #expect(paths.contains { $0.contains("/B[") })
  }

  @Test func anEditOnTopOfWhatItsAuthorNeverSawKeepsThat() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
    let member = try replicas[1].member
    let entry = try #require(member.entry(visit.record))
    let seen = try #require(try member.items(of: member.revision(entry.revision)).first)
    try replicas[0].commit(note(visit.record, "from desk"))
    try replicas.carry(from: 0, to: 1)
    var edit = note(visit.record, "typed meanwhile")
    edit.seen[.record] = SeenFile(seen)
    try replicas[1].commit(edit)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(
      try member.bytes(of: "record.md", in: visit.record) == Array("typed meanwhile".utf8))
    let copy = try #require(try replicas[0].conflicts.first)
    #expect(try member.bytes(of: "record.md", in: copy.record) == Array("from desk".utf8))
  }

  /// Over a revision whose clock was ahead, two devices write at the same instant: the time alone does not say what somebody
  /// has seen.
  @Test(arguments: [["desk", "lab"], ["lab", "desk"]])
  func anEditOnTopOfAnotherOneOfTheSameInstantKeepsThat(_ texts: [String]) throws {
    let replicas = try Replicas(count: 2)
    replicas[0].clock.advance(days: 365)
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    replicas[0].clock.goBack(days: 365)
    let member = try replicas[1].member
    try replicas[1].commit(note(visit.record, texts[1]))
    let entry = try #require(member.entry(visit.record))
    let seen = try #require(try member.items(of: member.revision(entry.revision)).first)
    try replicas[0].commit(note(visit.record, texts[0]))
    #expect(try replicas[0].member.entry(visit.record)?.time == entry.time)
    try replicas.carry(from: 0, to: 1)
    var edit = note(visit.record, "typed meanwhile")
    edit.seen[.record] = SeenFile(seen)
    try replicas[1].commit(edit)
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(
      try member.bytes(of: "record.md", in: visit.record) == Array("typed meanwhile".utf8))
    #expect(try keptTexts(replicas[0]).contains(texts[0]))
  }

  @Test func aVersionTakenBackIsTheRecordAgainEverywhere() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
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

  /// The record holds that version again, or still, when the copy goes. So it was not thrown away, and whoever has written over
  /// it elsewhere without having decided that loses to nobody, but replaces it no more.
  @Test(arguments: [false, true])
  func whatIsDecidedForIsKeptWhateverOthersHaveMadeOfIt(isThrownAway: Bool) throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 3, with: visit)
    try replicas[0].commit(place(visit.record, "Visit", isDeleted: true))
    replicas[1].clock.advance(days: 1)
    try replicas[1].commit(note(visit.record, "wanted"))
    replicas[2].clock.advance(days: 400)
    try replicas[2].commit(note(visit.record, "later"))
    for number in [0, 2] {
      try replicas.carry(from: 1, to: number)
      #expect(try keptTexts(replicas[number]) == ["wanted"])
    }
    if isThrownAway { try replicas[0].commit(place(visit.record, "Visit")) }
    let member = try replicas[0].member
    let conflict = try #require(try member.keptConflicts().first)
    let edits =
      try isThrownAway
      ? member.edits(discarding: conflict) : member.edits(takingBack: conflict)
    try replicas[0].vault.commit(edits, to: member)
    #expect(try keptTexts(replicas[0]).isEmpty)
    #expect(try member.bytes(of: "record.md", in: visit.record) == Array("wanted".utf8))
    try replicas.everyoneMeets()
    try expectAgreement(replicas)
    #expect(try member.bytes(of: "record.md", in: visit.record) == Array("later".utf8))
    #expect(try keptTexts(replicas[0]) == ["wanted"])
  }

  /// Whoever decides about a copy has seen what it holds.
  @Test func aCopyThatHasChangedSinceIsNotThrownAway() throws {
    let visit = RecordEdit.newRecord("Visit", note: "at first")
    let replicas = try Replicas(count: 2, with: visit)
    try replicas[0].commit(place(visit.record, "Visit", isDeleted: true))
    try replicas[1].commit(note(visit.record, "wanted"))
    try replicas.everyoneMeets()
    let device = replicas[0]
    let member = try device.member
    let conflict = try #require(try member.keptConflicts().first)
    try device.commit(note(conflict.copy.record, "mended"))
    for edits in try [member.edits(discarding: conflict), member.edits(takingBack: conflict)] {
      let failure = #expect(throws: VaultError.self) {
        try device.vault.commit(edits, to: member)
      }
      guard case .changedMeanwhile = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    let now = try #require(try member.keptConflicts().first)
    #expect(try member.bytes(of: "record.md", in: now.copy.record) == Array("mended".utf8))
    try device.vault.commit(member.edits(discarding: now), to: member)
    #expect(try member.keptConflicts().isEmpty)
  }

  /// The copy is all that is thrown away, and it is whole.
  @Test func aCopyOfARecordThatIsDamagedIsThrownAway() throws {
    let visit = RecordEdit.newRecord("Visit", note: "old")
    let replicas = try Replicas(count: 2, with: visit)
    try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
    let member = try replicas[0].member
    var conflict = try #require(try member.keptConflicts().first)
    conflict.original?.revision = .zero
    #expect(throws: VaultError.self) { try member.edits(takingBack: conflict) }
    try replicas[0].vault.commit(member.edits(discarding: conflict), to: member)
    #expect(try member.keptConflicts().isEmpty)
  }

  /// Nor is the copy gone then.
  @Test func aVersionThatIsNotWholeIsNotTakenBack() throws {
    let scan = RecordEdit.newRecord("Scan", note: "note")
    let replicas = try Replicas(count: 2, with: scan)
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

  @Test func aDamagedCopyKeepsNobodyFromTheOthers() throws {
    let visits = ["One", "Two"].map { RecordEdit.newRecord($0, note: "at first") }
    let replicas = try Replicas(count: 2)
    for visit in visits { try replicas[0].commit(visit) }
    try replicas.everyoneMeets()
    for visit in visits {
      try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
    }
    let device = replicas[0]
    let all = try device.member.keptConflicts()
    #expect(all.count == 2)
    try device.store.remove(device.member.objects.path(of: all[0].copy.revision))
    try device.member.revisions.withLock { $0.removeAll() }
    #expect(try device.member.keptConflicts().map(\.copy) == [all[1].copy])
  }

  @Test func aVersionIsNotTakenBackOverWhatNobodyHasSeen() throws {
    let visit = RecordEdit.newRecord("Visit", note: "old")
    let replicas = try Replicas(count: 2, with: visit)
    try replicas.change(note(visit.record, "from desk"), then: note(visit.record, "from laptop"))
    let member = try replicas[0].member
    let edits = try member.edits(takingBack: #require(try member.keptConflicts().first))
    try replicas[0].commit(note(visit.record, "meanwhile"))
    #expect(throws: VaultError.self) { try replicas[0].vault.commit(edits, to: member) }
    #expect(try member.bytes(of: "record.md", in: visit.record) == Array("meanwhile".utf8))
    #expect(try keptTexts(replicas[0]) == ["from desk"])
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

  /// It was stolen, and its log says that another one of the person's did what it did.
  @Test func aDeviceThatCallsItselfAsAnotherOneIsNamed() throws {
    let replicas = try Replicas(count: 2)
    try replicas[0].vault.renameDevice(to: "desk")
    try replicas[1].vault.renameDevice(to: "phone")
    try replicas.everyoneMeets()
    let vault = replicas[1].vault
    func shown(_ said: String, by device: DeviceID) -> String {
      let event = AuditEvent(time: 5, action: "export", device: said)
      let logged = LoggedEvent(device: device, person: vault.person, event: event)
      return EventNames(vault, others: nil).naming(logged).device
    }
    let (desk, phone) = (replicas[0].vault.device, DeviceID.random())
    #expect(shown("", by: desk) == "desk")
    #expect(shown("desk", by: desk) == "desk")
    #expect(shown("what it was called", by: desk) == "what it was called")
    #expect(shown("desk", by: phone) == "desk (so \(phone.shortHex))")
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
