import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A record of which every revision is gone, and a device that has not met the vault yet.
@Suite struct LostRecordTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID
  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }
  private var new: Family.Device { family[2] }

  /// Two devices have met, and the heads of both name the record.
  init() throws {
    family = try Family(count: 3)
    record = try family[0].write("Lost", "first")
    try family[0].write("Kept", "stays")
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Of the laptop", "stays as well")
    try family[1].sync(usb)
    try family[0].sync(usb)
  }

  /// Removes all revisions of the record, or only the newest, from the remote and from these devices.
  private func lose(onlyNewest: Bool = false, by devices: [Family.Device]) throws {
    let emma = try desk.emma
    let paths = try emma.history(of: record).prefix(onlyNewest ? 1 : .max).map {
      BlobPath(emma.objects.vaultPath(of: $0.digest).string)
    }
    for path in paths {
      try usb.remove(path)
      for device in devices { try device.store.remove(path) }
    }
    for device in devices { try device.reopen() }
  }

  private func note(by device: Family.Device) throws -> String? {
    try device.contents()["Emma/Lost[\(record.shortHex)]/record.md"]
  }

  @Test(arguments: [false, true])
  func aRepairLetsNewDevicesTakeTheRest(isDeleted: Bool) throws {
    if isDeleted {
      try desk.delete(record)
      try desk.sync(usb)
      try laptop.sync(usb)
      try laptop.write("After that", "of the laptop")
      try laptop.sync(usb)
      try desk.sync(usb)
    }
    try lose(by: [desk, laptop])
    let told = try new.sync(usb)
    #expect(told.untakenHeadCount > 0)
    #expect(told.problems.contains { $0.text.contains("record \(record.shortHex)") })
    #expect(try desk.vault.repair().map(\.lost) == [["Emma/Lost"]])
    #expect(try desk.vault.repair().isEmpty)
    try desk.expectWhole()
    try desk.sync(usb)
    #expect(try new.sync(usb).untakenHeadCount == 0)
    try family.meet(at: usb)
    try family.expectAgreement()
    let shown = try new.contents().values
    #expect(shown.contains("stays") && shown.contains("stays as well"))
    #expect(try new.emma.entry(record)?.isDeleted == isDeleted)
    #expect(try note(by: new)?.contains("could not be read any more") == (isDeleted ? nil : true))
  }

  /// Another device has it all the time, and did not write it.
  @Test func whoeverStillHasItBringsItBack() throws {
    try lose(by: [desk])
    #expect(try desk.vault.repair().map(\.lost) == [["Emma/Lost"]])
    #expect(try note(by: desk) != "first")
    try family.meet(at: usb)
    for device in family.devices {
      #expect(try note(by: device) == "first")
      #expect(try device.emma.keptConflicts().isEmpty)
    }
    try family.expectAgreement()
  }

  /// The same where somebody has put something into it meanwhile.
  @Test func whatWasPutIntoItMeanwhileStays() throws {
    try lose(by: [desk])
    _ = try desk.vault.repair()
    let name = try #require(FileName("scan"))
    var edit = RecordEdit(record: record)
    edit.items[name] = try .photo("scan", byteCount: 3_000, seed: 1, in: desk.emma)
    try desk.commit(edit)
    try family.meet(at: usb)
    for device in family.devices {
      #expect(try note(by: device) == "first")
      let emma = try device.emma
      let shown = try emma.revision(#require(emma.entry(record)).revision)
      #expect(try emma.item(named: name, of: shown)?.size == 3_000)
      #expect(try emma.keptConflicts().isEmpty)
    }
    try family.expectAgreement()
  }

  /// Only somebody who may only read has it: they put it on the remote, and an owner takes it back from there.
  @Test func aViewerWhoStillHasItBringsItBack() throws {
    let desk = try Family(count: 1)[0]
    let (usb, record) = (MemoryStore(), try desk.write("Lost", "first"))
    try desk.sync(usb)
    let ben = try SyncingAdult(joining: desk.vault.invite(), as: "Ben")
    try ben.sync(usb)
    try desk.sync(usb)
    #expect(try desk.vault.acceptIntroductions() == [ben.vault.person])
    try desk.vault.share(desk.emma, with: ben.vault.person, role: .viewer)
    try desk.sync(usb)
    try ben.sync(usb)
    let shown = "Emma/Lost[\(record.shortHex)]/record.md"
    #expect(try Family.Device.contents(of: ben.vault)[shown] == "first")

    let emma = try desk.emma
    let lost = try #require(emma.entry(record)).revision
    let path = BlobPath(emma.objects.vaultPath(of: lost).string)
    try usb.remove(path)
    try desk.store.remove(path)
    try desk.reopen()
    #expect(try desk.vault.repair().map(\.lost) == [["Emma/Lost"]])
    try desk.sync(usb)
    let told = try ben.sync(usb).problems
    #expect(told.contains { $0.severity == .note && $0.text.contains("sync --full") })
    #expect(usb.blobs[path] != nil)
    try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(try desk.contents()[shown] == "first")
    #expect(try desk.emma.keptConflicts().isEmpty)
    try desk.sync(usb)
    try ben.sync(usb)
    #expect(try Family.Device.contents(of: ben.vault)[shown] == "first")
  }

  /// It comes back with the last of what it needs: a head that names what nobody has would keep others from all of the member.
  @Test func whatCameBackInPartWaitsForTheRest() throws {
    let desk = try Family(count: 1)[0]
    let usb = MemoryStore()
    var edit = RecordEdit.newRecord("Lost", note: "first")
    let scan = try Item.photo("scan", byteCount: 200_000, seed: 1, in: desk.emma)
    edit.items[scan.name] = scan
    try desk.commit(edit)
    try desk.sync(usb)
    let emma = try desk.emma
    let chunk = try #require(try emma.chunks(of: scan.content).first ?? nil)
    let revision = try #require(emma.entry(edit.record)).revision
    let paths = [revision, chunk].map { BlobPath(emma.objects.vaultPath(of: $0).string) }
    let files = try paths.map { path in try #require(usb.blobs[path]) }
    for path in paths {
      try usb.remove(path)
      try desk.store.remove(path)
    }
    try desk.reopen()
    #expect(try desk.vault.repair().map(\.lost) == [["Emma/Lost"]])
    try desk.sync(usb)
    let shown = "Emma/Lost[\(edit.record.shortHex)]/record.md"
    for (path, file) in zip(paths, files) {
      #expect(try desk.contents()[shown] != "first")
      try usb.put(path, file)
      try desk.sync(usb) { $0.looksEverywhere = true }
    }
    #expect(try desk.contents()[shown] == "first")
    try desk.expectWhole()
  }

  /// The same where an older version is left: everyone goes on from that, and not only whoever went back to it.
  @Test func aRecordThatGoesBackKeepsNobodyFromTheRest() throws {
    try desk.edit(record, "second")
    try desk.sync(usb)
    try laptop.sync(usb)
    try laptop.write("After that", "of the laptop")
    try laptop.sync(usb)
    try desk.sync(usb)
    try lose(onlyNewest: true, by: [desk, laptop])
    #expect(try desk.vault.repair().map(\.wentBack) == [["Emma/Lost"]])
    #expect(try desk.vault.repair().isEmpty)
    try laptop.write("Later", "of the laptop as well")
    try family.meet(at: usb)
    try family.expectAgreement()
    let shown = try new.contents().values
    #expect(shown.contains("of the laptop") && shown.contains("of the laptop as well"))
    for device in family.devices {
      #expect(try note(by: device) == "first")
      #expect(try device.emma.keptConflicts().isEmpty)
      // What is lost, and what it went back to with all that came before.
      #expect(try device.emma.history(of: record).count == 2)
    }
  }

  /// What was deleted does not come back with the version before.
  @Test func aLostDeletionIsOneStill() throws {
    try desk.delete(record)
    try family[0].sync(usb)
    try laptop.sync(usb)
    try lose(onlyNewest: true, by: [desk, laptop])
    #expect(try desk.vault.repair().count == 1)
    try family.meet(at: usb)
    // What was missing when it was opened is none of its problems any more.
    try laptop.reopen()
    try family.expectAgreement()
    for device in family.devices {
      #expect(try device.emma.entry(record)?.isDeleted == true)
      #expect(try device.emma.history(of: record).count == 2)
    }
  }

  /// Nothing goes back that another device has.
  @Test func whoeverStillHasTheNewerOneBringsItBack() throws {
    try desk.edit(record, "second")
    try desk.sync(usb)
    try laptop.sync(usb)
    try lose(onlyNewest: true, by: [desk])
    #expect(try desk.vault.repair().map(\.wentBack) == [["Emma/Lost"]])
    #expect(try note(by: desk) == "first")
    try family.meet(at: usb)
    for device in family.devices {
      #expect(try note(by: device) == "second")
      #expect(try device.emma.keptConflicts().isEmpty)
    }
    try family.expectAgreement()
  }

  /// The same where what the repair has put in its place is lost as well, and repaired.
  @Test(arguments: [false, true])
  func whoeverStillHasItBringsItBackAfterAnotherLoss(isEdited: Bool) throws {
    try desk.edit(record, "second")
    try desk.sync(usb)
    try laptop.sync(usb)
    for _ in 1...2 {
      try lose(onlyNewest: true, by: [desk])
      #expect(try desk.vault.repair().map(\.wentBack) == [["Emma/Lost"]])
    }
    #expect(try note(by: desk) == "first")
    if isEdited {
      desk.clock.turn(bySeconds: 86_400)
      try desk.edit(record, "third")
    }
    try family.meet(at: usb)
    let lost: [Item.Content] = isEdited ? [.inline(Array("second".utf8))] : []
    for device in family.devices {
      #expect(try note(by: device) == (isEdited ? "third" : "second"))
      let kept = try device.emma.keptConflicts()
      #expect(kept.flatMap(\.items).map(\.content) == lost)
    }
    try family.expectAgreement()
  }

  /// The same where somebody has changed that record meanwhile: they had not seen what is lost, so what they overrule is kept.
  @Test func whatWasWrittenMeanwhileOverrulesNothingUnseen() throws {
    try desk.edit(record, "second")
    try desk.sync(usb)
    try laptop.sync(usb)
    try lose(onlyNewest: true, by: [desk])
    _ = try desk.vault.repair()
    desk.clock.turn(bySeconds: 86_400)
    try desk.edit(record, "third")
    try family.meet(at: usb)
    for device in family.devices {
      #expect(try note(by: device) == "third")
      let kept = try device.emma.keptConflicts()
      #expect(kept.flatMap(\.items).map(\.content) == [.inline(Array("second".utf8))])
    }
    try family.expectAgreement()
  }

  /// The same where it was joined meanwhile with what somebody had written beside the lost one.
  @Test func whatWasJoinedMeanwhileHidesNothing() throws {
    try new.sync(usb)
    try desk.edit(record, "second")
    try desk.sync(usb)
    try laptop.sync(usb)
    let name = try #require(FileName("scan"))
    new.clock.turn(bySeconds: 86_400)
    var edit = RecordEdit(record: record)
    edit.items[name] = try .photo("scan", byteCount: 3_000, seed: 1, in: new.emma)
    try new.commit(edit)
    try lose(onlyNewest: true, by: [desk])
    _ = try desk.vault.repair()
    try desk.sync(usb)
    try new.sync(usb)
    try desk.sync(usb)
    #expect(try note(by: desk) == "first")
    try family.meet(at: usb)
    for device in family.devices {
      #expect(try note(by: device) == "second")
      let emma = try device.emma
      let shown = try emma.revision(#require(emma.entry(record)).revision)
      #expect(try emma.item(named: name, of: shown)?.size == 3_000)
    }
    try family.expectAgreement()
  }
}
