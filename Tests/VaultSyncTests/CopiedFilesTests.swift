import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Folders that a plain copier carries file by file, in an order of its own.
@Suite struct CopiedFilesTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    // The first device has not heard of the second one.
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Visit", "from the new device")
  }

  private func copy(_ isWanted: (String) -> Bool) throws {
    for (path, bytes) in family[1].store.blobs where isWanted(path.string) {
      if family[0].store.blobs[path] == nil {
        try family[0].store.replace(path, bytes, durably: true)
      }
    }
  }

  /// - Returns: The object that the new device's head names and the copier has not brought.
  private func copyAllButASegment() throws -> BlobPath {
    let emma = try family[1].emma
    let own = try #require(
      emma.heads.withLock { $0.loaded[family[1].vault.device]?.head.segments.last })
    let missing = emma.objects.path(of: own)
    try copy { $0 != missing.string }
    return missing
  }

  @Test func aHeadThatCameBeforeItsCertificateCountsWhenThatComes() throws {
    try copy { $0.hasPrefix("members/") }
    #expect(try family[0].emma.refresh().isEmpty)
    #expect(try family[0].emma.refresh().isEmpty)
    try copy { $0.hasPrefix("people/") }
    #expect(try !family[0].emma.refresh().isEmpty)
    #expect(try family[0].contents() == family[1].contents())
  }

  /// A copier brings the closing that removes a device, new keys, and a head under them at once. What nobody but this machine had
  /// got of that device goes on.
  @Test func whatWasLearnedOfARemovedDeviceOutlivesNewKeys() throws {
    let (remote, other) = (MemoryStore(), MemoryStore())
    let family = try Family(count: 3)
    let (desk, laptop, tablet) = (family[0], family[1], family[2])
    try family.meet(at: remote)
    try tablet.write("Scan", "by the tablet")
    for device in [tablet, laptop] { try device.sync(other, as: "other") }
    try desk.vault.beginGeneration(
      removing: [tablet.vault.device], words: Family.words.words)
    try desk.vault.beginEpoch(of: desk.emma, without: [])
    let others = [laptop.vault.device, tablet.vault.device]
    for (path, bytes) in desk.store.blobs where !path.string.hasPrefix("staging/") {
      if let device = VaultPath(parsing: path.string)?.registerDevice, others.contains(device) {
        continue
      }
      try laptop.store.replace(path, bytes, durably: true)
    }
    for _ in 0..<2 {
      _ = try laptop.emma.refresh()
      #expect(try laptop.emma.epoch == desk.emma.epoch)
      #expect(try laptop.contents().values.contains("by the tablet"))
      _ = try laptop.emma.joinConcurrent()
      #expect(try !laptop.emma.hasLateHeads)
      try laptop.reopen()
    }
    for device in [laptop, desk] { try device.sync(remote) }
    #expect(try desk.contents().values.contains("by the tablet"))
  }

  /// A copier puts an older head of the machine's own back while a program runs: who only syncs sets it right as who writes.
  @Test func anOlderHeadOfItsOwnKeepsNoMachineFromSyncing() throws {
    let path = BlobPath(VaultPath.head(try family[1].emma.id, family[1].vault.device).string)
    try family[1].sync(usb)
    let old = try #require(family[1].store.blobs[path])
    try family[1].write("Vaccine", "later")
    try family[1].store.replace(path, old, durably: true)
    try family[1].sync(usb)
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("later"))
    #expect(try family[0].contents() == family[1].contents())
  }

  private func collect() throws -> CollectReport {
    try family[0].vault.collect(keepDays: 0, isDryRun: false)
  }

  /// What such a head names is nobody's garbage: a copier would carry its removal to where it came from.
  @Test func whatAHeadNamesThatCameBeforeItsCertificateIsNotCollected() throws {
    try copy { $0.hasPrefix("members/") }
    for isFresh in [false, true] {
      if isFresh { try family[0].reopen() }
      let report = try collect()
      #expect(report.objectCount == 0 && report.skippedMembers == ["Emma"])
    }
    try copy { $0.hasPrefix("people/") }
    _ = try family[0].emma.refresh()
    #expect(try family[0].contents() == family[1].contents())
    #expect(try collect().skippedMembers == [])
    #expect(try family[0].contents() == family[1].contents())
  }

  /// The same of one that counts, of which a part has not come yet.
  @Test func whatAHeadNamesOfWhichAPartIsMissingIsNotCollected() throws {
    _ = try copyAllButASegment()
    for isFresh in [false, true] {
      if isFresh { try family[0].reopen() }
      let report = try collect()
      #expect(report.objectCount == 0 && report.skippedMembers == ["Emma"])
    }
    try copy { _ in true }
    _ = try family[0].emma.refresh()
    #expect(try family[0].contents() == family[1].contents())
    #expect(try collect().skippedMembers == [])
  }

  /// Objects come before the head that names them, which may take as long as it takes to copy all of them: of a device that
  /// has no head here yet, or of one that writes under old keys and whose last head was taken over.
  @Test(arguments: [false, true])
  func whatCameBeforeItsHeadIsNotCollected(isTakenOver: Bool) throws {
    if isTakenOver {
      try family.meet(at: usb)
      try family[0].vault.beginEpoch(of: family[0].emma, without: [])
      try family[1].write("Vaccine", "under the old keys")
    } else {
      // It knows the other device by now, and nothing that it has written.
      try family[0].sync(usb)
    }
    family[0].store.keepTimes(family[0].clock.wallClock.milliseconds)
    let before = Set(family[0].store.blobs.keys)
    try copy { $0.contains("/objects/") }
    let brought = Set(family[0].store.blobs.keys).subtracting(before)
    #expect(!brought.isEmpty)
    try family[0].vault.makeRoom(keepDays: 0)
    _ = try collect()
    #expect(brought.isSubset(of: family[0].store.blobs.keys))
    // If no head comes at all, they are garbage like any other, of which a device must know that has written before.
    family[0].clock.turn(bySeconds: 2 * 86_400)
    let report = try collect()
    #expect(report.waitingMembers == (isTakenOver ? ["Emma"] : []))
    #expect(brought.isDisjoint(with: family[0].store.blobs.keys) == !isTakenOver)
  }

  /// The same under the keys of an older epoch, of which everything else goes as soon as it stands under the new ones.
  @Test(arguments: [false, true])
  func whatCameBeforeALateHeadIsNotRemovedAsOld(comesAtLast: Bool) throws {
    try family.meet(at: usb)
    let emma = try family[0].emma
    try family[0].vault.beginEpoch(of: emma, without: [])
    try family[1].write("Vaccine", "under the old keys")
    family[0].store.keepTimes(family[0].clock.wallClock.milliseconds)
    let before = Set(family[0].store.blobs.keys)
    try copy { $0.contains("/objects/") }
    let brought = Set(family[0].store.blobs.keys).subtracting(before)
    #expect(!brought.isEmpty)
    for _ in 0..<2 { try family[0].vault.removeOldObjects().requireNone() }
    #expect(brought.isSubset(of: family[0].store.blobs.keys))
    // A head opens with them.
    for wrap in before where wrap.string.contains("/wraps/") {
      #expect(family[0].store.blobs[wrap] != nil)
    }
    if comesAtLast {
      // What it goes on from is here: its segments stay, and all below them stands under the new keys.
      let head = BlobPath(VaultPath.head(emma.id, family[1].vault.device).string)
      try family[0].store.replace(head, #require(family[1].store.blobs[head]), durably: true)
      _ = try emma.refresh()
      _ = try emma.joinConcurrent()
      #expect(try family[0].contents().values.contains("under the old keys"))
      try family[0].expectWhole()
    } else {
      family[0].clock.turn(bySeconds: 2 * 86_400)
      try family[0].vault.removeOldObjects().requireNone()
      #expect(brought.isDisjoint(with: family[0].store.blobs.keys))
    }
  }

  /// Whoever needs again what is announced writes its file anew, and that may come before the head that names it.
  @Test func whatWasWrittenAnewIsNotCollectedBeforeItsHeadComes() throws {
    try family.meet(at: usb)
    let scan = try #require(FileName("scan"))
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[scan] = try .photo("scan", byteCount: 300_000, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    let photo = try #require(family[0].store.blobs.first { $0.value.count > 300_000 }).key
    try family.meet(at: usb)
    var second = RecordEdit(record: edit.record)
    second.items[scan] = try .photo("scan", byteCount: 300_000, seed: 2, in: family[0].emma)
    try family[0].commit(second)
    try family.meet(at: usb)
    family[0].store.keepTimes(family[0].clock.wallClock.milliseconds)
    #expect(try collect().waitingMembers == ["Emma"])
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Vaccine", "has seen what was announced")
    try family.meet(at: usb)

    var again = RecordEdit.newRecord("Again", note: "the same scan")
    again.items[scan] = try .photo("scan", byteCount: 300_000, seed: 1, in: family[1].emma)
    try family[1].commit(again)
    try family[0].store.replace(photo, #require(family[1].store.blobs[photo]), durably: true)
    _ = try collect()
    #expect(family[0].store.blobs[photo] != nil)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// The head is the same on the remote, which has the part that is missing here.
  @Test(arguments: [false, true])
  func aSyncBringsWhatAHeadWaitsFor(isFresh: Bool) throws {
    try family[1].sync(usb)
    _ = try copyAllButASegment()
    if isFresh { try family[0].reopen() }
    try family[0].sync(usb)
    #expect(try family[0].contents() == family[1].contents())
    // What was told when it was opened is over.
    try family[0].reopen()
    try family[0].expectWhole()
  }

  /// The head stands here already, so nothing is put in its place that a barrier would be before.
  @Test func whatAHeadWaitsForIsOnTheDiskBeforeItCounts() throws {
    try family[1].sync(usb)
    let missing = try copyAllButASegment()
    let recording = RecordingStore(family[0].store)
    family[0].vault = try family[0].open(on: recording)
    recording.forgetCalls()
    try family[0].sync(usb)
    let calls = recording.calls(.rename, .barrier, .read, .readRange, .openForReading)
    #expect(try family[0].contents() == family[1].contents())
    let came = try #require(calls.firstIndex { $0.target == missing })
    let read = try #require(calls[came...].lastIndex { $0.path == missing })
    #expect(calls[came..<read].contains { $0.kind == .barrier })
  }

  /// The disk does not take what comes: nothing of the head shows that waits for it.
  @Test func whatTheDiskDoesNotTakeLetsNoHeadCount() throws {
    try family[1].sync(usb)
    let missing = try copyAllButASegment()
    let disk = ForgetfulDisk(family[0].store)
    family[0].vault = try family[0].open(on: disk)
    let before = try family[0].contents()
    disk.forgetAtNextBarrier()
    #expect(throws: SyncError.self) { try family[0].sync(usb) }
    #expect(disk.lost.contains(missing))
    #expect(try family[0].contents() == before)
    try family[0].sync(usb)
    #expect(try family[0].contents() == family[1].contents())
  }

  /// The remote has something in its place, which is no object: that is looked at with each sync, and nothing is written here nor
  /// waited for. (Adversary's seed 9700002.)
  @Test func whatStaysBrokenThereCostsTheDiskNothing() throws {
    try family[1].sync(usb)
    let missing = try copyAllButASegment()
    try usb.replace(missing, [1, 2, 3], durably: true)
    for _ in 0..<2 { try family[0].sync(usb) }
    let before = family[0].store.mutatingCallCount
    let report = try family[0].sync(usb)
    #expect(report.problems.contains { $0.path == missing.string })
    #expect(family[0].store.mutatingCallCount == before)
  }

  /// Nobody has the part any more: with no sync is anything moved for such a head, or told.
  @Test(arguments: [false, true])
  func aHeadWaitsSilentlyForWhatIsNowhere(isFresh: Bool) throws {
    try family[1].sync(usb)
    let missing = try copyAllButASegment()
    try usb.remove(missing)
    if isFresh { try family[0].reopen() }
    try family[0].sync(usb)
    let report = try family[0].sync(usb)
    #expect(report.pulled.isEmpty && report.pushed.isEmpty)
    #expect(report.problems.filter { $0.severity > .note } == [])
    #expect(report.untakenHeadCount == 0)
    // It counts as soon as somebody brings the part.
    try usb.put(missing, #require(family[1].store.blobs[missing]))
    try family[0].sync(usb)
    #expect(try family[0].contents() == family[1].contents())
    #expect(try family[0].sync(usb).pulled.isEmpty)
  }

  /// What a new version has in common with the one before it was lost here meanwhile: nobody who follows a head brings that.
  @Test func aSyncBringsWhatAHeadWaitsForThatWasHereBefore() throws {
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    // So many that their list is an object of its own.
    for number in 0..<40 {
      let name = try #require(FileName("scan \(number)"))
      edit.items[name] = try .photo(
        name.string, byteCount: 100, seed: UInt64(number), in: family[1].emma)
    }
    try family[1].commit(edit)
    try family.meet(at: usb)
    try family[0].reopen()
    let objects = try family[0].emma.objects
    let pages = Set(
      try objects.listed().map(\.name).filter { try objects.kind(of: $0) == .page }
        .map { objects.path(of: $0).string })
    #expect(!pages.isEmpty)
    for page in pages { try family[0].store.remove(BlobPath(page)) }
    let entry = try #require(family[1].emma.entry(edit.record))
    try family[1].commit(
      RecordEdit(
        record: edit.record,
        place: RecordPlace(parent: entry.parent, title: #require(FileName("Renamed")))))
    try family[1].sync(usb)
    try copy { !pages.contains($0) }
    let heads = VaultPath.head(try family[1].emma.id, family[1].vault.device).string
    try family[0].store.replace(
      BlobPath(heads), #require(family[1].store.blobs[BlobPath(heads)]), durably: true)
    try family[0].sync(usb)
    #expect(try family[0].contents() == family[1].contents())
    try family[0].expectWhole()
    #expect(try family[0].sync(usb).pulled.isEmpty)
  }

  /// A head that nobody with the keys has made holds nothing up, whatever it says that it waits for.
  @Test func aHeadThatNobodyWithTheKeysHasMadeHoldsNothingUp() throws {
    let device = DeviceID.random()
    let emma = try family[0].emma
    let path = VaultPath.head(emma.id, device)
    let forged = HeadFile(
      member: emma.id, person: family[0].vault.person, certificate: .random(), device: device,
      counter: 1, epoch: emma.epoch, follows: emma.register.links.history.tips,
      sealed: Sealed(
        nonce: [UInt8](repeating: 1, count: 12), ciphertext: [UInt8](repeating: 2, count: 400)
      ).encoded(), keyID: emma.register.keys.current.keyID)
    let bytes = SignedFile(body: forged.encoded(), signature: [UInt8](repeating: 3, count: 64))
      .encoded()
    try family[0].store.replace(BlobPath(path.string), bytes, durably: true)
    let garbage = BlobPath(VaultPath.object(emma.id, .random()).string)
    try family[0].store.replace(garbage, [UInt8](repeating: 4, count: 520), durably: true)
    let report = try collect()
    #expect(report.skippedMembers == [] && report.objectCount > 0)
    #expect(family[0].store.blobs[garbage] == nil)
  }

  @Test func aHeadThatDoesNotHoldIsReadOnce() throws {
    try copy { $0.hasPrefix("members/") }
    _ = try family[0].emma.refresh()
    let recording = RecordingStore(family[0].store)
    let vault = try family[0].open(on: recording)
    let emma = try #require(vault.members.first)
    _ = try emma.refresh()
    recording.forgetCalls()
    _ = try emma.refresh()
    #expect(recording.calls(.read).isEmpty)
  }
}
