import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// What a sync asks of a remote, counted in requests and bytes.
@Suite struct CostTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
  }

  /// Both have synced, and know what the remote shows.
  private func settle() throws {
    try family.meet(at: usb)
    for device in family.devices { try device.sync(usb) }
  }

  @Test func nothingChangedReadsNothing() throws {
    try family[0].write("Visit", "all well")
    _ = try family[0].vault.addMember(named: #require(FileName("Liam")))
    try settle()
    let report = try family[0].sync(usb)
    // vault.json; people: the folder, the person, closings, certificates, wraps, those of the
    // generation, devices; members; heads of two.
    #expect(report.traffic.readCount == 1)
    #expect(report.traffic.listCount == 7 + 1 + 2)
    #expect(report.traffic.sizeCount + report.traffic.putCount == 0)
    #expect(report.pulled.isEmpty && report.pushed.isEmpty)
  }

  @Test func anEditedNoteCostsThreeUploadsAndTwoKilobytes() throws {
    let note = try family[0].write("Visit", "all well")
    try settle()
    for text in ["better", "well again", "quite well"] {
      try family[0].edit(note, text)
      let report = try family[0].sync(usb)
      #expect(report.traffic.putCount == 3)
      // Whether the remote went back meanwhile.
      #expect(report.traffic.sizeCount == 1)
      #expect(report.traffic.putByteCount <= 2048)
      #expect(report.pushed.objectCount == 2)
      let pulled = try family[1].sync(usb)
      #expect(pulled.pulled.objectCount == 2)
      #expect(pulled.problems == [])
    }
  }

  @Test func onePhotoInTenRecordsGoesOnce() throws {
    try settle()
    let emma = try family[0].emma
    for number in 0..<10 {
      var edit = RecordEdit.newRecord("Record \(number)", note: "n")
      edit.items[try #require(FileName("photo.jpg"))] =
        try .photo("photo.jpg", byteCount: 2 << 20, seed: 1, in: emma)
      try family[0].commit(edit)
      // Half of them one by one, half of them in one sync.
      if number < 5 { try family[0].sync(usb) }
    }
    let rest = try family[0].sync(usb)
    #expect(rest.traffic.putByteCount < 64 << 10)
    let chunks = usb.blobs.values.filter { $0.count > 1 << 20 }
    #expect(chunks.count == 2)
  }

  /// A record of 200 files that stands everywhere.
  private func settleScans() throws -> RecordID {
    var edit = RecordEdit.newRecord("Scans", note: "v1")
    for number in 0..<200 {
      let item = try Item.photo(
        "\(number).jpg", byteCount: 3000, seed: UInt64(number), in: family[0].emma)
      edit.items[item.name] = item
    }
    try family[0].commit(edit)
    try settle()
    return edit.record
  }

  @Test func whatWasChangedOftenBetweenTwoSyncsGoesAlone() throws {
    let record = try settleScans()
    for text in ["v2", "v3", "v4"] { try family[0].edit(record, text) }
    let push = try family[0].sync(usb)
    // Three revisions, the list of records and the head.
    #expect(push.traffic.putCount == 5)
    #expect(push.pulled.objectCount == 0)
    #expect(try family[1].sync(usb).problems == [])
  }

  /// A file is renamed here and edited there, so that the join is changed once more before it is sent.
  @Test func whatIsJoinedGoesAlone() throws {
    let record = try settleScans()
    let (old, new) = try (#require(FileName("3.jpg")), #require(FileName("other.jpg")))
    var item = try #require(try family[0].emma.item(named: old, in: record))
    var rename = RecordEdit(record: record)
    rename.unchangedFiles[new] = item.changed
    item.name = new
    rename.items[new] = item
    rename.items.updateValue(nil, forKey: old)
    rename.hasAllNames = true
    try family[0].commit(rename)
    try family[0].sync(usb)
    var edited = try Item.photo("3.jpg", byteCount: 3000, seed: 999, in: family[1].emma)
    edited.file = item.file
    try family[1].commit(RecordEdit(record: record, items: [old: edited]))
    try family[1].sync(usb)
    _ = try family[1].emma.joinConcurrent()
    #expect(try family[1].sync(usb).traffic.putCount < 20)
    #expect(try family[0].sync(usb).problems == [])
  }

  @Test func editingTheNoteOfARecordWithAPhotoMovesNoPhoto() throws {
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("photo.jpg"))] =
      try .photo("photo.jpg", byteCount: 2 << 20, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    try settle()
    try family[0].edit(edit.record, "v2")
    let push = try family[0].sync(usb)
    #expect(push.traffic.putCount == 3)
    #expect(push.traffic.putByteCount <= 2048)
    #expect(push.traffic.sizeCount == 1)
    let pull = try family[1].sync(usb)
    #expect(pull.pulled.objectCount == 2)
    #expect(pull.pulled.byteCount <= 2048)
  }

  @Test func aSecondDevicesFirstEditCostsAsMuchAsAnyOther() throws {
    let edits = (0..<10_000).map { RecordEdit.newRecord("Record \($0)") }
    _ = try family[0].emma.commit(edits)
    try settle()
    for text in ["one", "two", "three"] {
      try family[1].edit(try #require(edits.last).record, text)
      let report = try family[1].sync(usb)
      #expect(report.traffic.putCount <= 4)
      #expect(report.traffic.putByteCount <= 4096)
      #expect(report.problems == [])
    }
  }

  @Test func whatASyncOfHeadsSawTheWholeOneDoesNotAskForAgain() throws {
    try settle()
    try family[1].write("Visit", "all well")
    try family[1].sync(usb)
    let before = family[0].stateStore.imageAfterKill()
    let asked = try family[0].syncHeads(usb, on: family[0].store)
    #expect(asked.report == nil)
    let sight = try #require(asked.sight)
    // The same without it, on the same memory.
    let alone = family[0].snapshot()
    let whole = try Family.Device(family[0].vault.id, alone, start: 1_700_000_900_000).sync(usb)
    #expect(family[0].stateStore.blobs == before.blobs)
    let report = try family[0].sync(usb, seeing: sight)
    #expect(report.pulled.registerCount == 1)
    #expect(report.pulled == whole.pulled && report.problems == whole.problems)
    // vault.json, the folders of people, members, heads and links, and the new head.
    let saved = whole.traffic.requestCount - report.traffic.requestCount
    #expect(report.traffic.listCount == 0 && saved >= 12)
    try family.expectAgreement()
  }

  @Test func whatWasSeenServesOnlyWhoKnowsTheSameOfTheRemote() throws {
    try settle()
    try family[1].write("Visit", "all well")
    try family[1].sync(usb)
    let late = try #require(try family[0].syncHeads(usb, on: family[0].store).sight)
    family[0].clock.turn(bySeconds: 31)
    #expect(try family[0].sync(usb, seeing: late).traffic.listCount > 0)
    try family[1].edit(
      try #require(family[1].emma.allEntries().first { $0.record != .root }).record, "well")
    try family[1].sync(usb)
    let known = try #require(try family[0].syncHeads(usb, on: family[0].store).sight)
    try family[0].sync(usb)
    #expect(try family[0].sync(usb, seeing: known).traffic.listCount > 0)
    // It is of another remote.
    #expect(try family[0].sync(MemoryStore(), as: "other", seeing: known).traffic.listCount > 0)
    try family.expectAgreement()
  }

  /// The whole one lists it again, and removes it, or tells of it as before.
  @Test func whatWasSeenWithALeftoverServesNobody() throws {
    try settle()
    try family[1].write("Visit", "all well")
    try family[1].sync(usb)
    let member = try family[0].emma.id.hex
    let longAgo = Int(family[0].clock.milliseconds() / 1000) - 8 * 86_400
    let leftover = BlobPath("members/\(member)/heads")
      .appending(TemporaryName.make(for: "file", at: longAgo))
    try usb.put(leftover, [1])
    let asked = try family[0].syncHeads(usb, on: family[0].store)
    #expect(asked.report == nil && asked.sight == nil)
    try family[0].sync(usb, seeing: asked.sight)
    #expect(usb.blobs[leftover] == nil)
  }

  @Test(arguments: [200, 2000])
  func aSyncCostsTheSameHoweverManyRecordsThereAre(count: Int) throws {
    let edits = (0..<count).map { RecordEdit.newRecord("Record \($0)") }
    _ = try family[0].emma.commit(edits)
    try settle()
    let recording = RecordingStore(family[0].store)
    let vault = try family[0].open(on: recording)
    let device = family[0]
    device.vault = vault
    recording.forgetCalls()
    let still = try device.sync(usb)
    #expect(still.traffic.requestCount == 10)
    #expect(recording.calls.filter { $0.path.string.contains("/objects/") }.isEmpty)

    try device.edit(try #require(edits.last).record, "edited")
    recording.forgetCalls()
    let edited = try device.sync(usb)
    #expect(edited.traffic.putCount == 3)
    #expect(edited.traffic.requestCount <= 16)
    let opened = recording.calls.filter { $0.path.string.contains("/objects/") }
    #expect(opened.count <= 6)
  }
}
