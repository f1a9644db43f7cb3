import BlobStore
import MachineState
import Notes
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// Devices that meet at a store, each working on its own in between.
@Suite struct SyncTests {
  @Test func whatOneDeviceWritesTheOtherReads() throws {
    let family = try Family()
    let usb = MemoryStore()
    let note = try family[0].write("Visit", "all well")
    let first = try family[0].sync(usb)
    #expect(first.problems == [])
    #expect(first.isComplete)
    let second = try family[1].sync(usb)
    #expect(second.problems == [])
    #expect(second.isComplete)
    #expect(try family[1].emma.entry(note)?.title.string == "Visit")
    try family[1].edit(note, "all very well")
    try family.meet(at: usb)
    try family.expectAgreement()
    #expect(try family[0].contents().values.contains("all very well"))
  }

  @Test func threeDevicesWithConcurrentEditsAgreeAndLoseNothing() throws {
    let family = try Family(count: 3)
    let usb = MemoryStore()
    let note = try family[0].write("Visit", "first")
    try family.meet(at: usb)
    for (number, device) in family.devices.enumerated() {
      try device.edit(note, "from \(number)")
      try device.write("New \(number)", "new")
    }
    try family.meet(at: usb)
    try family.expectAgreement()
    let texts = try family[0].contents().values
    for number in 0..<3 { #expect(texts.contains("from \(number)"), "from \(number) is lost") }
  }

  /// What `record add`, the page and a mount make of a type's folder.
  private func addNote(_ title: String, by device: Family.Device) throws -> RecordID {
    let emma = try device.emma
    let (folder, edits) = emma.place(for: .note)
    let note = RecordEdit(new: .random(), titled: try #require(FileName(title)), in: folder)
    try device.vault.commit(edits + [note], to: emma)
    return folder
  }

  private func put(
    _ name: String, _ text: String, into folder: RecordID, by device: Family.Device
  ) throws {
    var item = Item.note(text)
    item.name = try #require(FileName(name))
    var edit = RecordEdit(record: folder)
    edit.items[item.name] = item
    try device.commit(edit)
  }

  @Test func twoDevicesThatEachMakeTheFolderOfATypeMakeOne() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family.meet(at: usb)
    for (number, device) in family.devices.enumerated() {
      let folder = try addNote("From \(number)", by: device)
      try put("scan \(number)", "of \(number)", into: folder, by: device)
      try put("list", "by \(number)", into: folder, by: device)
    }
    try family.meet(at: usb)
    try family.expectAgreement()
    let emma = try family[0].emma
    let folders = emma.children(of: .root).filter { $0.title.string == "Notes" }
    #expect(folders.count == 1)
    #expect(
      try Set(emma.children(of: #require(folders.first).record).map(\.title.string)) == [
        "From 0", "From 1",
      ])
    let texts = try family[0].contents()
    #expect(texts.values.filter { ["of 0", "of 1", "by 0", "by 1"].contains($0) }.count == 4)
    // Of the two lists one is a conflict, and nothing else is.
    #expect(
      emma.allEntries().count { $0.title.string.contains("offline conflict") } == 1, "\(texts)")
    #expect(try addNote("Third", by: family[1]) == folders.first?.record)
  }

  @Test func aFolderOfATypeThatWentIsMadeAnew() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family.meet(at: usb)
    let first = try addNote("Kept", by: family[0])
    try family[0].delete(first)
    let second = try addNote("Second", by: family[0])
    #expect(second != first)
    // The other one made the first folder, too, before it has met that it is deleted.
    #expect(try addNote("Other", by: family[1]) == first)
    try family.meet(at: usb)
    try family.expectAgreement()
    let shown = try family[0].contents().keys.map { String($0.prefix { $0 != "[" }) }
    for title in ["Kept", "Second", "Other"] {
      #expect(shown.contains { $0.hasSuffix("/\(title)") }, "\(shown)")
    }
  }

  @Test func aStickCarriesBetweenDevicesThatShareNoOtherStore() throws {
    let family = try Family(count: 3)
    let (home, away) = (MemoryStore(), MemoryStore())
    // The second device is the only one that sees both.
    for round in 0..<3 {
      try family[0].write("home \(round)", "h")
      try family[0].sync(home, as: "home")
      try family[1].sync(home, as: "home")
      try family[1].sync(away, as: "away")
      try family[2].sync(away, as: "away")
      try family[2].write("away \(round)", "a")
      try family[2].sync(away, as: "away")
      try family[1].sync(away, as: "away")
      try family[1].sync(home, as: "home")
      try family[0].sync(home, as: "home")
    }
    try family.expectAgreement()
    #expect(try family[0].emma.record(titled: "away 2") != nil)
  }

  @Test func attachmentsTravelAndHistoryComesAlong() throws {
    let family = try Family()
    let usb = MemoryStore()
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("scan.dcm"))] =
      try .photo("scan.dcm", byteCount: 20 << 20, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    for version in 2...5 { try family[0].edit(edit.record, "v\(version)") }
    try family.meet(at: usb)
    try family.expectAgreement()
    #expect(try family[1].emma.history(of: edit.record).count == 5)
  }

  @Test func aFolderOfManyFilesTravels() throws {
    let family = try Family()
    let usb = MemoryStore()
    var edit = RecordEdit.newRecord("Many", note: "n")
    for number in 0..<500 {
      edit.items[try #require(FileName("\(number)"))] =
        try .photo("\(number)", byteCount: 100, seed: UInt64(number), in: family[0].emma)
    }
    try family[0].commit(edit)
    try family.meet(at: usb)
    try family.expectAgreement()
    // One file more moves its pages, not the five hundred.
    var more = RecordEdit(record: edit.record)
    more.items[try #require(FileName("one more"))] =
      try .photo("one more", byteCount: 100, seed: 7, in: family[1].emma)
    try family[1].commit(more)
    let push = try family[1].sync(usb)
    #expect(push.pushed.objectCount < 10)
    let pull = try family[0].sync(usb)
    #expect(pull.pulled.objectCount <= push.pushed.objectCount)
    try family.expectAgreement()
  }

  @Test func deletionsTravel() throws {
    let family = try Family()
    let usb = MemoryStore()
    let note = try family[0].write("Gone", "x")
    try family.meet(at: usb)
    try family[1].delete(note)
    try family.meet(at: usb)
    #expect(try family[0].emma.entry(note)?.isDeleted == true)
    try family.expectAgreement()
  }

  @Test func aDryRunSaysWhatMovesAndMovesNothing() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family[0].write("Visit", "all well")
    let planned = try family[0].sync(usb) { $0.isDryRun = true }
    #expect(usb.blobs.isEmpty)
    let done = try family[0].sync(usb)
    #expect(planned.pushed == done.pushed)
    #expect(Set(planned.moves.map(\.path.string)) == Set(usb.blobs.keys.map(\.string)))

    let before = family[1].store.blobs
    let plannedPull = try family[1].sync(usb) { $0.isDryRun = true }
    #expect(family[1].store.blobs == before)
    let pulled = try family[1].sync(usb)
    #expect(plannedPull.pulled == pulled.pulled)
    #expect(pulled.moves.isEmpty)
    #expect(pulled.records.isEmpty)
  }

  @Test func aDryRunNamesTheRecords() throws {
    let family = try Family()
    let usb = MemoryStore()
    func named(_ number: Int) throws -> Set<String> {
      let report = try family[number].sync(usb) { $0.isDryRun = true }
      return Set(
        report.records.map {
          "\($0.direction) \($0.path.map(\.string).joined(separator: "/")) \($0.change)"
        })
    }
    let visits = try family[0].write("Visits", "")
    let below = RecordEdit.newRecord("Eyes", in: visits, note: "all well")
    try family[0].commit(below)
    try family[0].write("Old", "x")
    #expect(
      try named(0) == [
        "push Emma new", "push Emma/Visits new", "push Emma/Visits/Eyes new", "push Emma/Old new",
      ])
    try family.meet(at: usb)
    #expect(try named(0) == [])
    #expect(try named(1) == [])
    try family[0].edit(below.record, "glasses")
    let old = try #require(family[0].emma.children(of: .root).first { $0.title.string == "Old" })
    try family[0].delete(old.record)
    let made = try family[0].write("Made", "x")
    try family[0].delete(made)
    #expect(
      try named(0) == ["push Emma/Visits/Eyes changed", "push Emma/Old deleted"])
    try family[0].sync(usb)
    #expect(
      try named(1) == ["pull Emma/Visits/Eyes changed", "pull Emma/Old deleted"])
  }

  /// Its head counts no more, and says of nothing that it is there.
  @Test func aDryRunDoesNotNameWhatARemovedDeviceWrote() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family.meet(at: usb)
    try family[1].write("Old", "x")
    let visit = try family[1].write("Visit", "all well")
    try family.meet(at: usb)
    try family[0].vault.beginGeneration(
      removing: [family[1].vault.device], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(usb)
    try family[0].edit(visit, "glasses")
    let planned = try family[0].sync(usb) { $0.isDryRun = true }
    #expect(planned.records.map { $0.path.map(\.string) } == [["Emma", "Visit"]])
    #expect(planned.records.map(\.change) == [.changed])
  }

  @Test func auditLogsComeTogetherWhenEverythingIsLookedAt() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family.meet(at: usb)
    for device in family.devices {
      device.vault.audit.note(.read, detail: "x")
      try device.vault.audit.publish()
    }
    for device in family.devices + family.devices {
      let report = try device.sync(usb) { $0.looksEverywhere = true }
      #expect(report.problems == [])
    }
    for device in family.devices {
      let (events, problems) = try device.vault.audit.read()
      #expect(problems == [])
      #expect(Set(events.map(\.device)) == Set(family.devices.map(\.vault.device)))
    }
  }

  @Test func aLazyVaultLeavesChunksWhereTheyAreAndStillPushes() throws {
    let family = try Family()
    let usb = MemoryStore()
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    let pull = try family[1].sync(usb)
    #expect(pull.problems == [])
    #expect(pull.traffic.readByteCount < 64 << 10)
    try family[1].edit(edit.record, "v2")
    #expect(try family[1].sync(usb).isComplete)
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("v2"))
    try family[0].expectWhole()
  }

  /// On stores where a file is put under another name first.
  @Test func whatInterruptedSyncsLeftLongAgoIsRemoved() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family[0].write("Visit", "all well")
    for _ in 0..<2 { try family[0].sync(usb) }
    let member = try family[0].emma.id.hex
    let person = family[0].vault.person.hex
    let folders = ["members/\(member)/heads", "members/\(member)/objects/0a", "people/\(person)"]
    let now = Int(family[0].clock.milliseconds() / 1000)
    let (old, new) = (Self.left(in: folders, at: now - 8 * 86_400), Self.left(in: folders, at: now))
    for path in old + new { try usb.put(path, [1]) }
    try family[0].sync(usb) {
      $0.looksEverywhere = true
      $0.isDryRun = true
    }
    #expect((old + new).allSatisfy { usb.blobs[$0] != nil })
    let report = try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(Set(report.problems.map(\.path)) == Set(new.map(\.string)))
    #expect(report.problems.allSatisfy { $0.kind == .foreignFile })
    // Nobody has to do anything about them.
    #expect(report.problems.allSatisfy { $0.text.contains("There is nothing to do") })
    #expect(old.allSatisfy { usb.blobs[$0] == nil })
    #expect(new.allSatisfy { usb.blobs[$0] != nil })
  }

  private static func left(in folders: [String], at seconds: Int) -> [BlobPath] {
    folders.map { BlobPath($0).appending(TemporaryName.make(for: "file", at: seconds)) }
  }

  @Test func aDescriptionThatAFirstPushLeftCutShortIsPutAgain() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family[0].write("Visit", "all well")
    try family[0].sync(usb)
    let whole = try #require(usb.blobs["vault.json"])
    for count in [0, 1, whole.count / 2, whole.count - 2] {
      try usb.put("vault.json", Array(whole.prefix(count)))
      try family[0].sync(usb)
      #expect(usb.blobs["vault.json"] == whole)
    }
    try usb.put("vault.json", Array("{".utf8) + whole)
    #expect(throws: SyncError.self) { try family[0].sync(usb) }
  }

  @Test func aRemoteThatFailsIsToldWithShortIDs() throws {
    let (member, name) = (MemberID.random().hex, String(repeating: "0a", count: 32))
    let path = "members/\(member)/objects/0a/\(name)"
    let short = "members/\(member.prefix(8))…/objects/0a/\(name.prefix(8))…"
    let denied = SyncError.remote(.denied(path: path, reason: "HTTP 403 for /dav/\(path)"))
    #expect(
      denied.message
        == "The remote failed: \(short): the store refuses access: HTTP 403 for /dav/\(short).")
    // Whatever is no id stays as it is.
    let other = String(repeating: "a", count: 63)
    let timedOut = SyncError.remote(.timedOut(path: "audit/\(other)"))
    #expect(
      timedOut.message == "The remote failed: audit/\(other): the store did not answer in time.")
  }

  /// As when a stick is not plugged in, and its mountpoint is a folder of the system's disk.
  @Test func aRemoteThatIsEmptyNowIsNotFilled() throws {
    let family = try Family()
    let (usb, mountpoint) = (MemoryStore(), MemoryStore())
    try family[0].write("Visit", "all well")
    try family[0].sync(usb)
    for hidden in [nil, BlobPath(".Trash/a")] {
      if let hidden { try mountpoint.put(hidden, [1]) }
      let before = mountpoint.blobs
      do {
        try family[0].sync(mountpoint)
        Issue.record("an empty folder was filled")
      } catch let error as SyncError {
        guard case .emptied(let remote) = error else { throw error }
        #expect(remote.string == "usb")
        #expect(error.message.contains("Is this the right disk"))
        #expect(error.message.contains("kinvault remote remove usb"))
      }
      #expect(throws: SyncError.self) { try family[0].quickSync(mountpoint) }
      #expect(throws: SyncError.self) { try family[0].syncLocked(mountpoint) }
      #expect(mountpoint.blobs == before)
    }
    // Plugged in again, and another remote that never held anything.
    #expect(try family[0].sync(usb).problems == [])
    #expect(try family[0].sync(mountpoint, as: "other").problems == [])
  }

  @Test func whatWasEmptyFromTheBeginningMayBeFilledLater() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family[0].write("Visit", "all well")
    try family[0].sync(usb) { $0.direction = .pull }
    #expect(usb.blobs.isEmpty)
    try family[0].sync(usb)
    // A first push that was stopped before vault.json goes on.
    try usb.remove("vault.json")
    try family[0].sync(usb)
    #expect(usb.blobs["vault.json"] != nil)
  }

  /// A device that has changed keys did not come to the end of the first push.
  @Test func anotherDevicesFirstPushIsGoneOnWith() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family[0].write("Visit", "all well")
    try family[1].vault.beginGeneration(removing: [], words: Family.words.words)
    try family[1].sync(usb)
    try usb.remove("vault.json")
    try family[0].sync(usb)
    #expect(usb.blobs["vault.json"] != nil)
    // What is there of people of whom nobody is known here is another vault's.
    let strange = MemoryStore()
    let path = VaultPath.closing(.random(), .random()).string
    try strange.put(BlobPath(path), [1, 2, 3])
    do {
      try family[0].sync(strange, as: "strange")
      Issue.record("the beginning of another vault was taken for this one's")
    } catch let error as SyncError {
      guard case .notEmpty(path) = error else { throw error }
    }
    #expect(strange.blobs.count == 1)
  }

  @Test func anotherVaultIsRefused() throws {
    let family = try Family(count: 1)
    let usb = MemoryStore()
    try usb.put("vault.json", VaultDescription(vault: .random()).encoded())
    #expect(throws: SyncError.self) { try family[0].sync(usb) }
    #expect(usb.blobs.count == 1)
    let strange = MemoryStore()
    try strange.put("holiday.jpg", [1, 2, 3])
    do {
      try family[0].sync(strange)
      Issue.record("a folder of photos was taken for a vault")
    } catch let error as SyncError {
      guard case .notEmpty(let example) = error else { throw error }
      #expect(example == "holiday.jpg")
    }
    #expect(strange.blobs.count == 1)
  }
}

extension Member {
  func record(titled title: String) -> RecordEntry? {
    allEntries().first { $0.title.string == title && !$0.isDeleted }
  }
}
