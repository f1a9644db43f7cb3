import BlobStore
import MachineState
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// Remotes that have lost objects under heads that are whole.
@Suite struct LostObjectTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID

  init() throws {
    family = try Family()
    // One commit: a second one would leave the segment of the first, which nothing names.
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 3, in: family[0].emma)
    try family[0].commit(edit)
    record = edit.record
    try family[0].sync(usb)
    try family[0].sync(usb)
  }

  private struct Copies: ObjectSource {
    let store: MemoryStore
    func read(_ path: BlobPath, limit: Int, where isWhole: ([UInt8]) -> Bool) -> [UInt8]? {
      store.blobs[path].flatMap { isWhole($0) ? $0 : nil }
    }
  }

  private var objects: [BlobPath] {
    usb.blobs.keys.filter { $0.string.contains("/objects/") }.sorted { $0.string < $1.string }
  }

  @Test func aFullLookPutsBackEachThatIsMissingOrTorn() throws {
    let whole = usb.blobs
    for path in objects {
      for isTorn in [false, true] {
        // Nothing was lost for a while.
        family[0].clock.turn(bySeconds: 3601)
        try family[0].sync(usb)
        try usb.remove(path)
        if isTorn { try usb.put(path, Array(try #require(whole[path]).dropLast(100))) }
        #expect(try family[0].sync(usb).problems == [])
        let report = try family[0].sync(usb) { $0.looksEverywhere = true }
        #expect(report.problems.map(\.kind) == [.missingThere])
        #expect(report.pushed.objectCount == 1)
        #expect(usb.blobs.filter { $0.key.isObject } == whole.filter { $0.key.isObject })
      }
    }
    #expect(try family[0].sync(usb) { $0.looksEverywhere = true }.problems == [])
  }

  /// As on a server that says no sizes.
  @Test func whatIsListedWithoutASizeIsNotLost() throws {
    let server = ListingStore(usb) { _, entries in
      entries.map {
        BlobEntry(name: $0.name, kind: $0.kind, size: 0, fingerprint: $0.fingerprint)
      }
    }
    let whole = try family[0].sync(server) { $0.looksEverywhere = true }
    #expect(whole.problems == [])
    #expect(whole.pushed.objectCount == 0)
    let check = try RemoteCheck(vault: family[0].vault, remote: server).run(readsData: false)
    #expect(check.problems.filter { $0.kind == .damagedThere } == [])
    // What is torn to nothing is.
    try usb.put(objects[0], [])
    let torn = try family[0].sync(server) { $0.looksEverywhere = true }
    #expect(torn.problems.map(\.kind) == [.missingThere])
    #expect(torn.pushed.objectCount == 1)
  }

  @Test func onceAWeekThatIsDoneUnasked() throws {
    try usb.remove(objects[0])
    family[0].clock.turn(bySeconds: 2 * 86_400)
    #expect(try family[0].sync(usb).problems == [])
    family[0].clock.turn(bySeconds: 6 * 86_400)
    #expect(try family[0].sync(usb).problems.map(\.kind) == [.missingThere])
    try family[0].sync(usb)
    #expect(try family[0].sync(usb).problems == [])
  }

  /// The disk here does not give a record just then, so that nobody knows what it needs: lists are compared until it does.
  @Test func whatCannotBeReadHereIsComparedAgain() throws {
    let disk = UnreadableStore(family[0].store)
    let vault = try family[0].open(on: disk)
    let emma = try #require(vault.members.first)
    let revision = try #require(emma.entry(record)).revision
    let chunk = try #require(
      usb.blobs.filter { $0.key.isObject }.max { $0.value.count < $1.value.count })
    try usb.remove(chunk.key)
    disk.refuse([BlobPath(emma.objects.vaultPath(of: revision).string)])
    let name = try #require(RemoteName("usb"))
    var options = SyncOptions()
    options.looksEverywhere = true
    for _ in 0..<2 {
      let sync = RemoteSync(vault: vault, remote: usb, name: name, options: options)
      #expect(try sync.run().problems.map(\.kind) == [.damagedHere])
      #expect(usb.blobs[chunk.key] == nil)
      options.looksEverywhere = false
    }
    disk.refuse([])
    let sync = RemoteSync(vault: vault, remote: usb, name: name, options: options)
    #expect(try sync.run().problems.map(\.kind) == [.missingThere])
    #expect(usb.blobs[chunk.key] == chunk.value)
  }

  /// The disk here does not give just then what the remote has lost.
  @Test func whatCannotBeSentIsComparedAgain() throws {
    let disk = UnreadableStore(family[0].store)
    let vault = try family[0].open(on: disk)
    let chunk = try #require(
      usb.blobs.filter { $0.key.isObject }.max { $0.value.count < $1.value.count })
    try usb.remove(chunk.key)
    disk.refuse([chunk.key])
    let name = try #require(RemoteName("usb"))
    var options = SyncOptions()
    options.looksEverywhere = true
    for isReadable in [false, false, true] {
      if isReadable { disk.refuse([]) }
      let sync = RemoteSync(vault: vault, remote: usb, name: name, options: options)
      let kinds = try sync.run().problems.map(\.kind)
      #expect(kinds == [isReadable ? .missingThere : .damagedHere])
      options.looksEverywhere = false
    }
    #expect(usb.blobs[chunk.key] == chunk.value)
  }

  @Test func whatNobodyNeedsIsNotPutBack() throws {
    // The head's segment of before.
    let emma = try family[0].emma
    let needed = Set(
      (emma.neededObjects(unread: { Issue.record($0) }).map(\.digest)
        + emma.openedHeads.flatMap(\.segments)).map(emma.objects.name))
    for path in objects {
      guard case .object(_, let name)? = VaultPath(parsing: path.string), !needed.contains(name)
      else { continue }
      try usb.remove(path)
    }
    let before = usb.blobs.filter { $0.key.isObject }
    #expect(try family[0].sync(usb) { $0.looksEverywhere = true }.problems == [])
    #expect(usb.blobs.filter { $0.key.isObject } == before)
  }

  /// Who collects while no other device has a head removes at once, here and from remotes; others keep what they have of the
  /// past. That is put there again, and nobody is told that the remote has lost it.
  @Test func whatAnotherDeviceHasCollectedIsNotCalledLost() throws {
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family.meet(at: usb)
    try family[0].edit(record, "v2")
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    #expect(try family[0].sync(usb).traffic.removeCount > 0)
    try family[1].sync(usb)
    let check = try RemoteCheck(vault: family[1].vault, remote: usb).run(readsData: true)
    #expect(check.problems.allSatisfy { $0.severity == .note } && !check.problems.isEmpty)
    let report = try family[1].sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.map(\.kind) == [.missingThere])
    #expect(report.problems.map(\.severity) == [.note])
    #expect(
      try RemoteCheck(vault: family[1].vault, remote: usb).run(readsData: true).problems == [])
    #expect(try family[1].sync(usb) { $0.looksEverywhere = true }.problems == [])
  }

  /// Whoever put the member under new keys had not all of its history: what the remote has of that stands there under those of
  /// before. What is current has been lost there all the same.
  @Test func historyUnderKeysOfBeforeIsNotCalledLost() throws {
    let desk = family[0]
    func path(of digest: ContentDigest) throws -> BlobPath {
      try BlobPath(desk.emma.objects.vaultPath(of: digest).string)
    }
    let older = try #require(desk.emma.entry(record)).revision
    try desk.edit(record, "v2")
    try desk.sync(usb)
    let before = try path(of: older)
    let bytes = try #require(usb.blobs[before])
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    try desk.sync(usb)
    let now = try path(of: older)
    #expect(now != before)
    try #require(usb.blobs[now] != nil)
    try usb.remove(now)
    try usb.put(before, bytes, .always)

    let report = try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.map(\.kind) == [.missingThere])
    #expect(report.problems.map(\.severity) == [.note])
    #expect(usb.blobs[now] != nil)
    try usb.remove(path(of: #require(desk.emma.entry(record)).revision))
    let loss = try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(loss.problems.map(\.severity) == [.warning])
  }

  @Test func aPullGoesOnWithWhatAnotherRemoteHas() throws {
    let other = MemoryStore()
    try family[0].sync(other, as: "other")
    let whole = usb.blobs
    // Half are gone, half are damaged.
    for (number, path) in objects.enumerated() {
      if number % 2 == 0 {
        try usb.remove(path)
      } else {
        var bad = try #require(whole[path])
        bad[bad.count / 2] ^= 1
        try usb.put(path, bad)
      }
    }
    var sync = try RemoteSync(
      vault: family[1].vault, remote: usb, name: #require(RemoteName("usb")))
    sync.elsewhere = Copies(store: other)
    let report = try sync.run()
    #expect(report.untakenHeadCount == 0)
    #expect(Set(report.problems.map(\.kind)) == [.missingThere])
    try family.expectAgreement()
    // What was met on the way is mended there.
    try family[0].sync(usb) { $0.looksEverywhere = true }
    let check = try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: true)
    #expect(check.problems == [])
  }

  /// A version of before that cannot be had whole is read with every sync, for as long as the head that has it waits.
  @Test func whatIsTakenAwayAgainIsNotCountedAsTaken() throws {
    var edit = RecordEdit(record: record)
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 4, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
    let whole = usb.blobs
    for path in objects where whole[path]?.count ?? 0 > 100_000 { try usb.remove(path) }
    #expect(try !family[1].sync(usb).pulled.isEmpty)
    let before = family[1].store.blobs
    let again = try family[1].sync(usb)
    #expect(again.untakenHeadCount == 1)
    #expect(again.pulled.isEmpty, "\(again.pulled)")
    #expect(family[1].store.blobs == before)
    for (path, bytes) in whole where path.isObject { try usb.put(path, bytes) }
    #expect(try family[1].sync(usb).pulled.objectCount > 3)
    #expect(try family[1].emma.entry(record)?.revision == family[0].emma.entry(record)?.revision)
  }

  /// Two records that each had what the other one has now: whichever is looked at first, what its past lacks the other one's
  /// present does.
  @Test(arguments: [0, 1])
  func whatThePastOfOneRecordLacksThePresentOfAnotherDoesToo(_ lost: Int) throws {
    let desk = family[0]
    let photos = try [photo(5), photo(6)]
    let records = try photos.map { try write($0, by: desk) }
    for (record, photo) in zip(records, photos.reversed()) {
      try put(photo, into: record, by: desk)
    }
    try desk.sync(usb)
    try usb.remove(chunk(of: photos[lost]))
    let report = try family[1].sync(usb) { $0.threadCount = 1 }
    #expect(report.untakenHeadCount == 1)
    try desk.sync(usb) { $0.looksEverywhere = true }
    #expect(try family[1].sync(usb).untakenHeadCount == 0)
    try family.expectAgreement()
  }

  /// The same with the heads of two devices, of which one is followed.
  @Test(arguments: [0, 1])
  func whatThePastOfOneHeadLacksThePresentOfAnotherDoesToo(_ lost: Int) throws {
    let family = try Family(count: 3)
    let usb = MemoryStore()
    try family.meet(at: usb)
    let photos = try [photo(5), photo(6)]
    for (number, photo) in photos.enumerated() {
      let device = family[number]
      let record = try write(photo, by: device)
      try put(photos[1 - number], into: record, by: device)
      try device.sync(usb) { $0.direction = .push }
    }
    try usb.remove(chunk(of: photos[lost]))
    let report = try family[2].sync(usb)
    #expect(report.untakenHeadCount == 1)
    try family[2].expectWhole()
  }

  /// Of versions of before that lack the same none is taken.
  @Test func historyEndsInEachRecordThatLacksTheSame() throws {
    let desk = family[0]
    let (lost, other) = (try photo(5), try photo(6))
    let records = try [write(lost, by: desk), write(lost, by: desk)]
    for record in records { try put(other, into: record, by: desk) }
    try desk.sync(usb)
    try usb.remove(chunk(of: lost))
    #expect(try family[1].sync(usb).untakenHeadCount == 0)
    let emma = try family[1].emma
    for record in records { #expect(try emma.history(of: record).count == 1) }
    try family[1].expectWhole()
  }

  private func photo(_ seed: UInt64) throws -> Item {
    try .photo("scan", byteCount: 200_000, seed: seed, in: family[0].emma)
  }

  private func write(_ photo: Item, by device: Family.Device) throws -> RecordID {
    let record = try device.write("Photo", "v1")
    try put(photo, into: record, by: device)
    return record
  }

  private func put(_ photo: Item, into record: RecordID, by device: Family.Device) throws {
    for case let chunk? in try family[0].emma.chunks(of: photo.content) {
      let bytes = try family[0].emma.objects.content(chunk, kind: .chunk)
      _ = try device.emma.objects.put(.chunk, bytes)
    }
    var edit = RecordEdit(record: record)
    edit.items[photo.name] = photo
    try device.commit(edit)
  }

  private func chunk(of photo: Item) throws -> BlobPath {
    let emma = try family[0].emma
    let chunk = try #require(try emma.chunks(of: photo.content).first ?? nil)
    return BlobPath(emma.objects.vaultPath(of: chunk).string)
  }

  @Test func withoutAnotherTheHeadWaitsAndComesLater() throws {
    // Not any one: without what is kept of the past only, a head is taken.
    let emma = try family[0].emma
    let entry = try #require(emma.entry(record))
    let lost = BlobPath(emma.objects.vaultPath(of: entry.revision).string)
    try usb.remove(lost)
    let report = try family[1].sync(usb)
    #expect(report.untakenHeadCount == 1)
    try family[0].sync(usb) { $0.looksEverywhere = true }
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  // MARK: A backup of the remote that is put back while machines sync with it

  /// Both heads are there, and nothing of what they name. Whoever meets what the other one's head lacks looks for their own.
  @Test func whoMeetsALossLooksForTheirOwn() throws {
    let family = try Family(count: 2)
    let usb = MemoryStore()
    try family.meet(at: usb)
    let backup = usb.blobs
    for (number, device) in family.devices.enumerated() {
      try device.write("Record \(number)", "v1")
      try device.sync(usb) { $0.direction = .push }
    }
    for path in usb.blobs.keys where path.isObject && backup[path] == nil { try usb.remove(path) }
    let desk = try family[0].sync(usb)
    #expect(desk.untakenHeadCount == 1)
    #expect(desk.problems.contains { $0.text.contains("put back; look after the disk") })
    #expect(try family[1].sync(usb).untakenHeadCount == 0)
    // What stands in the report of every sync.
    let told = try family[0].sync(usb).problems
    #expect(told.contains { $0.text.contains("kinvault sync --full") })
    try family[1].sync(usb) { $0.looksEverywhere = true }
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// At each request of a sync. Another machine puts something there as well, so that no head shows in the end that the
  /// remote went back.
  @Test(arguments: [false, true])
  func aRemoteThatGoesBackDuringASyncIsMendedByTheNext(hasSynced: Bool) throws {
    var number = 0
    while true {
      let family = try Family(count: 2)
      let usb = UnreliableStore(seed: 0)
      try family.meet(at: usb)
      let backup = usb.memory.blobs
      let desk = family[0]
      if hasSynced {
        try desk.write("Earlier", "v1")
        try desk.sync(usb)
      }
      try desk.write("Now", "v1")
      let hasHappened = Mutex(false)
      usb.interrupt(after: number) {
        hasHappened.withLock { $0 = true }
        do { try usb.goBack(to: backup) } catch { Issue.record(error) }
      }
      do { try desk.sync(usb) } catch SyncError.remote {}
      guard hasHappened.withLock({ $0 }) else { break }
      try desk.sync(usb)
      let check = try RemoteCheck(vault: desk.vault, remote: usb).run(readsData: true)
      #expect(check.problems == [], "request \(number)")
      try family.meet(at: usb)
      try family.expectAgreement()
      number += 1
    }
    #expect(number > 10)
  }

  /// What is put back is put back file by file: what was put there once more may still go.
  @Test func aRemoteThatLosesMoreForAWhileIsWatched() throws {
    let desk = family[0]
    let emma = try desk.emma
    let lost = BlobPath(
      emma.objects.vaultPath(of: try #require(emma.entry(record)).revision).string)
    try usb.remove(lost)
    #expect(try desk.sync(usb) { $0.looksEverywhere = true }.problems.count == 1)
    for minutes in [1, 20, 59, 70] {
      try usb.remove(lost)
      desk.clock.turn(bySeconds: Int64(minutes) * 60)
      #expect(try desk.sync(usb).problems.map(\.kind) == [.missingThere], "\(minutes)")
    }
    desk.clock.turn(bySeconds: 3601)
    #expect(try desk.sync(usb).problems == [])
    // A comparison has found it whole an hour after the last loss.
    try usb.remove(lost)
    #expect(try desk.sync(usb).problems == [])
  }

  @Test func aLazyVaultNamesWhatIsNowhere() throws {
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    try family[1].sync(usb)
    let chunk = try #require(usb.blobs.first { $0.value.count > 1 << 20 }?.key)
    try usb.remove(chunk)
    let report = try family[1].sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.map(\.path) == [chunk.string])
    try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(try family[1].sync(usb) { $0.looksEverywhere = true }.problems == [])
  }

  /// It leaves there what the remote had lost before, and would take the rest for kept until a comparison is due.
  @Test func aLazyVaultNamesWhatIsNowhereWithItsFirstSync() throws {
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    let chunk = try #require(usb.blobs.first { $0.value.count > 1 << 20 }?.key)
    try usb.remove(chunk)
    #expect(try family[1].sync(usb).problems.map(\.path) == [chunk.string])
    let file = RemoteStateFile(
      state: family[1].vault.state, remote: try #require(RemoteName("usb")))
    #expect(try file.load().lastLoss != nil)
  }

  /// What would be put there only now has not been lost there.
  @Test func aDryRunOfALazyVaultsFirstSyncCallsNothingLost() throws {
    try StateFolder(store: family[0].stateStore).storeLazySettings(LazySettings())
    try family[0].reopen()
    let nas = MemoryStore()
    let planned = try family[0].sync(nas, as: "nas") { $0.isDryRun = true }
    #expect(nas.blobs.isEmpty)
    #expect(planned.problems == [])
    let done = try family[0].sync(nas, as: "nas")
    #expect(done.problems == [])
    #expect(planned.pushed.objectCount == done.pushed.objectCount)
  }

  /// It tells of a loss where nothing else would move, and takes nothing for lost that is still to be put there.
  @Test func aDryRunTellsOnlyOfLossesThatASyncWouldTellOf() throws {
    try usb.remove(objects[0])
    let before = usb.blobs
    let told = try family[0].sync(usb) { options in
      options.isDryRun = true
      options.looksEverywhere = true
    }
    #expect(told.problems.map(\.kind) == [.missingThere])
    #expect(usb.blobs == before)
    try family[0].sync(usb) { $0.looksEverywhere = true }

    try family[0].commit(.newRecord("Visit", note: "all well"))
    let planned = try family[0].sync(usb) { options in
      options.isDryRun = true
      options.looksEverywhere = true
    }
    #expect(planned.problems == [])
    let done = try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(done.problems == [])
    #expect(planned.pushed.objectCount == done.pushed.objectCount)
  }

  /// Without the keys nobody knows what is needed: the comparison is due all the same.
  @Test func aLockedSyncDoesNotCountAsAComparison() throws {
    try usb.remove(objects[0])
    family[0].clock.turn(bySeconds: 8 * 86_400)
    try family[0].syncLocked(usb)
    #expect(try family[0].sync(usb).problems.map(\.kind) == [.missingThere])
  }

  /// Where a chunk can be had that a lazy vault has left on a remote.
  private struct Chunks: ChunkSource {
    let store: MemoryStore

    func fetch(
      _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
    ) throws(VaultError) -> [UInt8] {
      let path = VaultPath.object(member, chunk).string
      guard let bytes = store.blobs[BlobPath(path)] else {
        throw .away(path: path, reason: "it is not there")
      }
      return bytes
    }

    func holds(
      _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
    ) throws(VaultError) -> Bool { false }
  }

  /// The second device is lazy, and has put on another remote all but what only an older version needs, which it has left on
  /// the first one.
  private func withoutOlderChunks() throws -> (nas: MemoryStore, old: [BlobPath: [UInt8]]) {
    let (desk, laptop) = (family[0], family[1])
    let old = usb.blobs.filter { $0.value.count > 1 << 19 }
    #expect(old.count == 3)
    var edit = RecordEdit(record: record)
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 4, in: desk.emma)
    try desk.commit(edit)
    try desk.sync(usb)
    try StateFolder(store: laptop.stateStore).storeLazySettings(LazySettings())
    try laptop.reopen()
    try laptop.sync(usb)
    laptop.vault.lazyChunks?.setSource(Chunks(store: usb))
    _ = try laptop.vault.fetch(record, of: laptop.emma)
    laptop.vault.lazyChunks?.setSource(nil)
    let nas = MemoryStore()
    let report = try laptop.sync(nas, as: "nas")
    #expect(report.problems.contains { $0.kind == .waiting })
    #expect(old.keys.allSatisfy { nas.blobs[$0] == nil })
    return (nas, old)
  }

  private func expectNoLossTold(_ report: SyncReport) throws {
    #expect(report.problems.map(\.kind) == [.missingThere])
    #expect(report.problems.map(\.severity) == [.note])
    let file = RemoteStateFile(
      state: family[1].vault.state, remote: try #require(RemoteName("nas")))
    #expect(try file.load().lastLoss == nil)
  }

  /// What it could not have then goes from the one to the other with a comparison, and takes no room here.
  @Test func whatWasAwayForAnotherRemoteComesThereLater() throws {
    let (nas, old) = try withoutOlderChunks()
    var options = SyncOptions()
    options.looksEverywhere = true
    var sync = try RemoteSync(
      vault: family[1].vault, remote: nas, name: #require(RemoteName("nas")), options: options)
    // One of them is damaged there, and waits.
    let elsewhere = MemoryStore()
    let spoilt = try #require(old.keys.min { $0.string < $1.string })
    for (path, bytes) in old {
      try elsewhere.put(path, path == spoilt ? Array(bytes.dropLast()) : bytes)
    }
    sync.elsewhere = Copies(store: elsewhere)
    _ = try sync.run()
    for (path, bytes) in old { #expect(nas.blobs[path] == (path == spoilt ? nil : bytes)) }
    sync.elsewhere = Copies(store: usb)
    try expectNoLossTold(sync.run())
    for (path, bytes) in old {
      #expect(nas.blobs[path] == bytes)
      #expect(family[1].store.blobs[path] == nil)
    }
    #expect(try family[1].sync(nas, as: "nas") { $0.looksEverywhere = true }.problems == [])
  }

  /// The same once it is here, as after a look at the older version: nobody is told that a disk has lost it.
  @Test func whatWasAwayAndIsHereByNowIsNotCalledLost() throws {
    let (nas, old) = try withoutOlderChunks()
    let laptop = family[1]
    laptop.vault.lazyChunks?.setSource(Chunks(store: usb))
    let emma = try laptop.emma
    for chunk in emma.neededObjects(unread: { Issue.record($0) }) where chunk.kind == .chunk {
      try emma.objects.fetchIfAway(chunk.digest)
    }
    try expectNoLossTold(laptop.sync(nas, as: "nas") { $0.looksEverywhere = true })
    for (path, bytes) in old { #expect(nas.blobs[path] == bytes) }
  }

  /// Another machine's upload was cut there; here it is not, so that there is nothing to compare it with.
  @Test func aLazyVaultTakesNothingTornForAChunk() throws {
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    try family[1].sync(usb)
    family[1].vault.lazyChunks?.setSource(Chunks(store: usb))
    let nas = MemoryStore()
    let chunks = usb.blobs.filter { $0.value.count > 1 << 19 }
    #expect(chunks.count == 3)
    for (path, bytes) in chunks { try nas.put(path, Array(bytes.prefix(bytes.count / 2))) }
    #expect(try family[1].sync(nas, as: "nas").problems == [])
    for (path, bytes) in chunks { #expect(nas.blobs[path] == bytes) }
  }
}

extension BlobPath {
  fileprivate var isObject: Bool { string.contains("/objects/") }
}
