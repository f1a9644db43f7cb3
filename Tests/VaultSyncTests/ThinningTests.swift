import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// Versions that only one machine has seen go by themselves, and nothing that anybody may need goes with them.
@Suite struct ThinningTests {
  private let usb = MemoryStore()
  private let name: FileName

  init() throws { name = try #require(FileName("base.db")) }

  private func save(
    _ record: RecordID, on device: Family.Device, number: UInt64, byteCount: Int = 100_000
  ) throws {
    var edit = RecordEdit(record: record)
    edit.items[name] = try .photo(
      name.string, byteCount: byteCount, seed: number, in: device.emma)
    try device.commit(edit)
  }

  private func objectBytes(_ store: MemoryStore) -> Int {
    store.blobs.filter { $0.key.string.contains("/objects/") }.reduce(0) { $0 + $1.value.count }
  }

  /// Every version that shows can be had.
  private func expectHistoryIsWhole(
    of record: RecordID, on device: Family.Device, count: ClosedRange<Int>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let emma = try device.emma
    let history = try emma.history(of: record)
    #expect(count.contains(history.count), "\(history.count)", sourceLocation: sourceLocation)
    for version in history {
      for item in try emma.items(of: version.revision) {
        for case let chunk? in try emma.chunks(of: item.content) {
          #expect(throws: Never.self, sourceLocation: sourceLocation) {
            try emma.objects.verify(chunk, kind: .chunk)
          }
        }
      }
    }
    try device.expectWhole(sourceLocation: sourceLocation)
  }

  @Test func aProgramThatSavesAllTheTimeLeavesFewVersions() throws {
    let device = try Family(count: 1)[0]
    let record = try device.write("Base", "v")
    for number in 0..<300 {
      try save(record, on: device, number: UInt64(number))
      device.clock.turn(bySeconds: 1)
      if number % 20 == 0 { try device.thin() }
    }
    let before = try device.contents()
    try device.thin()
    try expectHistoryIsWhole(of: record, on: device, count: 5...8)
    #expect(objectBytes(device.store) < 1_000_000)
    device.clock.turn(bySeconds: 3700)
    try device.thin()
    try expectHistoryIsWhole(of: record, on: device, count: 1...3)
    #expect(objectBytes(device.store) < 400_000)
    #expect(try device.contents() == before)
    // Nothing is left over but the segments that an earlier process wrote.
    let check = try device.vault.check(readsData: true)
    #expect(check.problems == [] && check.unusedCount <= 4)
    try device.reopen()
    #expect(try device.contents() == before)
    try expectHistoryIsWhole(of: record, on: device, count: 1...3)
    try device.sync(usb)
    #expect(try device.contents() == before)
  }

  /// Versions are as old as the clock says.
  @Test func nothingIsThinnedByAClockThatJumpedAhead() throws {
    let device = try Family(count: 1)[0]
    let record = try device.write("Base", "v")
    for number in UInt64(0)..<10 {
      try save(record, on: device, number: number)
      device.clock.turn(bySeconds: 1)
    }
    device.clock.turn(bySeconds: 365 * 86_400)
    try device.thin()
    try expectHistoryIsWhole(of: record, on: device, count: 11...11)
    device.clock.turn(bySeconds: 3700 - 365 * 86_400)
    try device.thin()
    try expectHistoryIsWhole(of: record, on: device, count: 1...3)
  }

  /// All that is written to the record since has one time: of each day something stays, and a file that was removed.
  @Test func aClockThatWasAheadOnceTakesNoLaterDaysAway() throws {
    let device = try Family(count: 1)[0]
    let day: Int64 = 86_400
    device.clock.turn(bySeconds: 400 * day)
    let record = try device.write("Base", "v")
    device.clock.turn(bySeconds: -400 * day)
    let letter = try #require(FileName("letter"))
    func save(_ name: FileName, number: UInt64) throws {
      var edit = RecordEdit(record: record)
      var item = try Item.photo(name.string, byteCount: 1000, seed: number, in: device.emma)
      item.modified = FileTimestamp(milliseconds: device.clock.milliseconds())
      edit.items[name] = item
      try device.commit(edit)
    }
    try save(letter, number: 100)
    for number in UInt64(0)..<20 {
      try save(name, number: number)
      device.clock.turn(bySeconds: number % 4 == 3 ? day : 1)
    }
    var removal = RecordEdit(record: record)
    removal.items[letter] = .some(nil)
    try device.commit(removal)
    let before = try device.contents()
    try device.thin()
    // The last of each of five days, and what is current.
    try expectHistoryIsWhole(of: record, on: device, count: 6...8)
    let emma = try device.emma
    let names = try emma.history(of: record).map { version in
      try emma.items(of: version.revision).map(\.name)
    }
    #expect(names.contains { $0.contains(letter) })
    #expect(try device.contents() == before)
  }

  @Test func allKeepsEveryVersion() throws {
    let device = try Family(count: 1)[0]
    let record = try device.write("Base", "v")
    for number in UInt64(0)..<10 { try save(record, on: device, number: number) }
    try device.thin(to: .everything)
    try expectHistoryIsWhole(of: record, on: device, count: 11...11)
  }

  @Test func whatARemoteHasSeenStays() throws {
    let family = try Family()
    let desk = family[0]
    try desk.knowRemotes(["usb"])
    let record = try desk.write("Base", "v")
    try save(record, on: desk, number: 1)
    // Nothing is known of the remote yet, so it may have seen everything.
    try desk.thin()
    try expectHistoryIsWhole(of: record, on: desk, count: 2...2)
    try desk.sync(usb)
    try save(record, on: desk, number: 2)
    try save(record, on: desk, number: 3)
    try desk.thin()
    // What was written first, what was seen last, and what is current.
    try expectHistoryIsWhole(of: record, on: desk, count: 3...3)
    #expect(try desk.quickSync(usb) != nil)
    try family.meet(at: usb)
    try family.expectAgreement()
    try expectHistoryIsWhole(of: record, on: family[1], count: 3...3)
  }

  @Test func whatAnotherDeviceSaysToHaveSeenStays() throws {
    let family = try Family()
    let record = try family[0].write("Base", "v")
    try save(record, on: family[0], number: 1)
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Other", "it has seen what was there")
    try family[1].sync(usb)
    // No remote is known: only the other device's head tells.
    try family[0].sync(usb)
    try save(record, on: family[0], number: 2)
    try save(record, on: family[0], number: 3)
    try family[0].thin()
    try expectHistoryIsWhole(of: record, on: family[0], count: 3...3)
  }

  /// Nobody copies the folder: what no remote has seen nobody has, whether the other device has written or not.
  @Test(arguments: [false, true])
  func whatNoRemoteHasSeenGoesWhereAllMeetAtOne(_ othersWrite: Bool) throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Base", "v")
    try family.meet(at: usb)
    if othersWrite {
      try family[1].write("Other", "by the other device")
      try family.meet(at: usb)
    }
    for number in UInt64(1)...5 { try save(record, on: family[0], number: number) }
    let before = objectBytes(family[0].store)
    try family[0].thin()
    #expect(objectBytes(family[0].store) < before - 300_000)
    try family[0].expectWhole()
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// The remote shows the other device's head by now, but this machine has put it there: what brought it may take any object of
  /// this folder along.
  @Test func nothingGoesWhereTheOtherDeviceIsOnTheRemoteOnlyFromHere() throws {
    let family = try Family()
    // A folder that this machine does not know as a remote stands for what copies files.
    let copied = MemoryStore()
    try family[0].knowRemotes(["usb"])
    let record = try family[0].write("Base", "v")
    for number in 0..<2 {
      for device in family.devices { try device.sync(copied, as: "copied") }
      if number == 0 { try family[1].write("Other", "by the other device") }
    }
    try family[0].sync(copied, as: "copied")
    for _ in 0..<2 { try family[0].sync(usb) }
    for number in UInt64(1)...5 { try save(record, on: family[0], number: number) }
    let before = objectBytes(family[0].store)
    try family[0].thin()
    // Versions have gone from the history, but no object from the folder.
    try expectHistoryIsWhole(of: record, on: family[0], count: 2...2)
    #expect(objectBytes(family[0].store) >= before)
    // Nor later, when the remote has shown more: a program may have carried them off before.
    try family[1].knowRemotes(["usb"])
    for _ in 0..<2 { for device in family.devices { try device.sync(usb) } }
    try family[1].write("Third", "by the remote")
    for _ in 0..<2 { for device in family.devices { try device.sync(usb) } }
    let later = objectBytes(family[0].store)
    try family[0].thin()
    #expect(objectBytes(family[0].store) >= later)
    try family.expectAgreement()
  }

  /// A sync that is under way has put the other device's head here, and has not remembered yet that the remote has brought it.
  @Test func whatWaitsForASyncToEndGoesAfterIt() throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Base", "v")
    try family.meet(at: usb)
    for number in UInt64(1)...5 { try save(record, on: family[0], number: number) }
    let emma = try family[0].emma
    let remembered = family[0].vault.seenByRemotes(of: emma.id)
    _ = try emma.thin([record], to: .standard, seenElsewhere: remembered.counter)
    try family[1].write("Other", "by the other device")
    for device in family.devices.reversed() { try device.sync(usb) }
    let early = emma.unneededReplaced(seenElsewhere: remembered)
    #expect(early?.digests == nil)
    let before = objectBytes(family[0].store)
    try family[0].thin()
    #expect(objectBytes(family[0].store) < before - 300_000)
    try family[0].expectWhole()
  }

  /// A program that copies brings the other device's head while the remote shows it: which of the two was first nobody knows.
  @Test(arguments: [false, true])
  func aHeadThatComesHereMeanwhileIsNotBrought(_ isCopied: Bool) throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Base", "v")
    try family.meet(at: usb)
    try family[1].write("Other", "by the other device")
    try family[1].sync(usb)
    let emma = try family[0].emma
    let head = VaultPath.head(emma.id, family[1].vault.device)
    let copying = CopyingStore(
      inner: usb, path: BlobPath(head.string), folder: family[0].store)
    let remote: any BlobStore = isCopied ? copying : usb
    try family[0].sync(remote)
    let memory = try RemoteStateFile(
      state: StateFolder(store: family[0].stateStore), remote: #require(RemoteName("usb"))
    ).load()
    let shown = try #require(memory.seen[head]?.state.counter)
    #expect((memory.brought[head] == shown) == !isCopied)
    try family[0].expectWhole()
  }

  /// The same conflict is kept in the same way as if nothing had been thinned.
  @Test(arguments: [false, true])
  func aConflictKeepsItsBase(_ isThinned: Bool) throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Base", "v")
    try save(record, on: family[0], number: 1)
    try family.meet(at: usb)
    try save(record, on: family[1], number: 20)
    for number in UInt64(2)...3 { try save(record, on: family[0], number: number) }
    if isThinned { try family[0].thin() }
    try family.meet(at: usb)
    try family.expectAgreement()
    let emma = try family[0].emma
    let copies = emma.children(of: ConflictCopy.folder(of: emma.id))
    #expect(copies.count == 1)
    for copy in copies {
      let items = try emma.items(of: emma.revision(copy.revision))
      #expect(items.map(\.name) == [name])
    }
    if isThinned { try family[0].thin() }
    try family.expectAgreement()
  }

  /// What another device wrote in a version that it has thinned out is still what that device wrote.
  @Test func aChangeOfAThinnedVersionIsNotTakenForOnesOwn() throws {
    let family = try Family()
    for device in family.devices { try device.knowRemotes(["usb"]) }
    let record = try family[0].write("Base", "v")
    try save(record, on: family[0], number: 1)
    try family.meet(at: usb)
    let emma = try family[0].emma
    let entry = try #require(emma.entry(record))
    let items = try emma.items(of: emma.revision(entry.revision))
    let seen = try #require(items.first { $0.name == name })
    try save(record, on: family[1], number: 2)
    try family[1].edit(record, "and the note")
    try family[1].thin()
    try expectHistoryIsWhole(of: record, on: family[1], count: 3...3)
    try family.meet(at: usb)
    try family[0].edit(record, "another note")
    // A program that had read the file before all that.
    var edit = RecordEdit(record: record)
    edit.items[name] = try .photo(name.string, byteCount: 5000, seed: 9, in: emma)
    edit.seen[name] = SeenFile(seen)
    try family[0].commit(edit)
    #expect(emma.children(of: ConflictCopy.folder(of: emma.id)).count == 1)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func whatSomethingElseNamesStays() throws {
    let device = try Family(count: 1)[0]
    let (first, second) = (try device.write("One", "v"), try device.write("Two", "v"))
    try save(first, on: device, number: 1)
    try save(second, on: device, number: 1)
    try save(first, on: device, number: 2)
    try device.thin()
    try expectHistoryIsWhole(of: first, on: device, count: 1...2)
    try expectHistoryIsWhole(of: second, on: device, count: 1...2)
    // Once nothing names it any more it goes, though it stayed the first time.
    try save(second, on: device, number: 3)
    try device.thin()
    #expect(objectBytes(device.store) < 250_000)
    try device.expectWhole()
  }

  @Test func whatIsNamedAgainMeanwhileStays() throws {
    let device = try Family(count: 1)[0]
    let emma = try device.emma
    let record = try device.write("Base", "v")
    try save(record, on: device, number: 1)
    try save(record, on: device, number: 2)
    _ = try emma.thin([record], to: .standard, seenElsewhere: 0)
    let seen = SeenElsewhere(counter: 0)
    let names = try #require(emma.unneededReplaced(seenElsewhere: seen))
    let other = try device.write("Other", "v")
    try save(other, on: device, number: 1)
    try emma.removeReplaced(names, except: [], seenElsewhere: seen)
    try device.expectWhole()
    try expectHistoryIsWhole(of: other, on: device, count: 1...2)
  }

  @Test func whatAProgramHasOpenStays() throws {
    let device = try Family(count: 1)[0]
    let emma = try device.emma
    let record = try device.write("Base", "v")
    try save(record, on: device, number: 1)
    let entry = try #require(emma.entry(record))
    let items = try emma.items(of: emma.revision(entry.revision))
    let file = try #require(items.first { $0.name == name })
    let chunks = try emma.chunks(of: file.content)
    let chunk = try #require(chunks.first ?? nil)
    try save(record, on: device, number: 2)
    try device.thin(except: [chunk])
    try emma.objects.verify(chunk, kind: .chunk)
    // And goes when it is closed.
    try device.thin([])
    #expect(throws: VaultError.self) { try emma.objects.verify(chunk, kind: .chunk) }
    try device.expectWhole()
  }

  @Test func whatWasDeletedCanBeRestored() throws {
    let device = try Family(count: 1)[0]
    let record = try device.write("Base", "v")
    // In one minute.
    let now = device.clock.milliseconds()
    device.clock.turn(bySeconds: Int64(60 - now / 1000 % 60))
    try save(record, on: device, number: 1)
    device.clock.turn(bySeconds: 20)
    var edit = RecordEdit(record: record)
    edit.items.updateValue(nil, forKey: name)
    try device.commit(edit)
    try device.edit(record, "goes on")
    try device.thin()
    let emma = try device.emma
    let kept = try emma.history(of: record).map { try emma.items(of: $0.revision) }
    #expect(kept.contains { $0.contains { $0.name == name } })
    try device.delete(record)
    try device.thin()
    try device.expectWhole()
    let before = try RecordRestore(emma).revisionBeforeDeletion(of: record)
    #expect(!before.revision.place.isDeleted)
  }

  /// A process that ends after a commit and before the removal leaves nothing that is half there.
  @Test func aCrashOnTheWayLeavesEverythingWhole() throws {
    let device = try Family(count: 1)[0]
    let record = try device.write("Base", "v")
    for number in UInt64(0)..<20 { try save(record, on: device, number: number) }
    let contents = try device.contents()
    _ = try device.emma.thin([record], to: .standard, seenElsewhere: 0)
    try device.reopen()
    try device.expectWhole()
    #expect(try device.contents() == contents)
    // What it left is removed by `collect`.
    #expect(try device.vault.collect(keepDays: 90, isDryRun: false).objectCount > 0)
    try device.expectWhole()
    #expect(objectBytes(device.store) < 400_000)
  }
}

/// A remote of which one file is copied into a folder as well, at the moment in which it is read.
private struct CopyingStore: WrappingStore {
  let inner: any BlobStore
  let path: BlobPath
  let folder: MemoryStore

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let bytes = try inner.read(path, limit: limit)
    if path == self.path { try folder.replace(path, bytes, durably: true) }
    return bytes
  }
}
