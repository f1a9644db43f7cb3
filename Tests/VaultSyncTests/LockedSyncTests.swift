import BlobStore
import MachineState
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// What goes on while nobody has typed the password.
@Suite struct LockedSyncTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
  }

  /// - Parameter folder: The device's own, by default.
  private func syncLocked(
    _ device: Family.Device, on folder: (any LocalStore)? = nil,
    _ change: (inout SyncOptions) -> Void = { _ in }
  ) throws -> SyncReport {
    var options = SyncOptions()
    change(&options)
    return try RemoteSync(
      .locked(
        VaultCopy(
          id: device.vault.id, store: folder ?? device.store,
          state: StateFolder(store: device.stateStore))),
      remote: usb, name: #require(RemoteName("usb")), options: options
    ).run()
  }

  @Test func whatWasWrittenGoesOutWithoutAnyKey() throws {
    try family[0].write("New", "x")
    let report = try syncLocked(family[0])
    #expect(report.problems == [])
    #expect(report.pushed.objectCount == 2)
    try family[1].sync(usb)
    try family.expectAgreement()
  }

  /// The disk does not give an object just now: with its head there no sync while locked, nor one without its keys, would put it
  /// there any more.
  @Test func whatCannotBeReadIsPutThereBeforeItsHead() throws {
    let desk = family[0]
    let before = desk.store.blobs
    try desk.write("New", "x")
    let new = desk.store.blobs.keys.filter {
      $0.string.contains("/objects/") && before[$0] == nil
    }
    let head = BlobPath(VaultPath.head(try desk.emma.id, desk.vault.device).string)
    let there = try #require(usb.blobs[head])
    let failing = UnreadableStore(desk.store)
    for path in new {
      failing.refuse([path])
      let report = try syncLocked(desk, on: failing)
      #expect(report.problems.map(\.path) == [path.string])
      #expect(usb.blobs[head] == there && usb.blobs[path] == nil)
      // So that each of them is the one that is missing.
      for path in new { try usb.remove(path) }
    }
    failing.refuse([])
    #expect(try syncLocked(desk, on: failing).problems == [])
    #expect(usb.blobs[head] == desk.store.blobs[head])
    #expect(!new.isEmpty && new.allSatisfy { usb.blobs[$0] == desk.store.blobs[$0] })
    try family[1].sync(usb)
    try family.expectAgreement()
  }

  @Test func whatCameInWaitsOutsideTheFolderAndIsJoinedLater() throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    let before = family[1].store.blobs
    let report = try syncLocked(family[1])
    #expect(report.pulled.objectCount == 2)
    #expect(family[1].store.blobs == before)
    // Once is enough.
    #expect(try syncLocked(family[1]).pulled.objectCount == 0)
    let joined = try family[1].sync(usb)
    #expect(joined.pulled.objectCount == 2)
    // Only the head is read again.
    #expect(joined.traffic.readByteCount < 2_000)
    #expect(family[1].stateStore.blobs.keys.allSatisfy { !$0.string.hasPrefix("incoming/") })
    try family.expectAgreement()
  }

  /// Nothing is joined while locked, so what waits for a person goes on waiting.
  @Test func whatAPersonHasToDecideStaysKnown() throws {
    let edits = (0..<50).map { RecordEdit.newRecord("Record \($0)") }
    _ = try family[0].emma.commit(edits)
    try family.meet(at: usb)
    for edit in edits.prefix(40) { try family[0].delete(edit.record) }
    try family[0].sync(usb)
    #expect(try family[1].sync(usb).massChanges.count == 1)
    let file = RemoteStateFile(
      state: StateFolder(store: family[1].stateStore), remote: try #require(RemoteName("usb")))
    for _ in 0..<2 {
      try family[1].syncLocked(usb)
      #expect(try file.load().findings.filter(\.needsDecision).count == 1)
    }
    try family[1].sync(usb) { $0.acceptsMassChange = true }
    #expect(try file.load().findings.filter(\.needsDecision).isEmpty)
  }

  @Test func aForgedFileThatWasFetchedWhileLockedIsNotUsed() throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    let fetched = family[1].stateStore.blobs.filter { $0.key.string.hasPrefix("incoming/") }
    #expect(!fetched.isEmpty)
    for path in fetched.keys { try family[1].stateStore.put(path, [1, 2, 3]) }
    let report = try family[1].sync(usb)
    #expect(report.problems == [])
    try family.expectAgreement()
  }

  // MARK: What the remote has lost since

  private var incoming: Set<BlobPath> {
    Set(family[1].stateStore.blobs.keys.filter { $0.string.hasPrefix("incoming/") })
  }

  private func titles(_ member: String = "Emma") throws -> Set<String> {
    let member = family[1].vault.members.first { $0.name.string == member }
    return Set(try #require(member).children(of: .root).map(\.title.string))
  }

  /// The remote as it was with these blobs.
  private func putBack(_ blobs: [BlobPath: [UInt8]]) throws {
    for path in usb.blobs.keys { try usb.remove(path) }
    for (path, bytes) in blobs { try usb.put(path, bytes) }
  }

  @Test func whatWasFetchedIsTakenThoughTheRemoteWentBack() throws {
    let before = usb.blobs
    try family[0].write("New", "x")
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    try putBack(before)
    // What needs no open vault is not enough for that.
    #expect(try family[1].quickSync(usb) == nil)
    let report = try family[1].sync(usb)
    #expect(report.pulled.objectCount == 2 && report.changedRecordCount == 1)
    #expect(report.problems.allSatisfy { $0.kind == .wentBack }, "\(report.problems)")
    #expect(try titles() == ["Visit", "New"])
    #expect(incoming == [])
    try family[1].expectWhole()
    // It has it again.
    try family.meet(at: usb)
    try family.expectAgreement()
    // For an hour more may be lost.
    #expect(try family[1].quickSync(usb) == nil)
    family[1].clock.turn(bySeconds: 3601)
    try family[1].sync(usb)
    #expect(try family[1].quickSync(usb) != nil)
  }

  @Test(arguments: [false, true])
  func whatWasFetchedIsTakenThoughTheRemoteIsNotThere(_ isEmpty: Bool) throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    let gone = FaultyStore(isEmpty ? MemoryStore() : usb)
    if !isEmpty { gone.fail(.read, andAllLater: true, with: .unreachable) }
    #expect(throws: SyncError.self) { try family[1].sync(gone) }
    #expect(try titles() == ["Visit", "New"])
    try family[1].expectWhole()
    #expect(try family[1].sync(usb).pulled.objectCount == 0)
    #expect(incoming == [])
  }

  /// A member that was made meanwhile: its root, links and keys are needed as well.
  @Test func aNewMemberIsTakenThoughTheRemoteWentBack() throws {
    let before = usb.blobs
    let liam = try family[0].vault.addMember(named: #require(FileName("Liam")))
    _ = try liam.commit([.newRecord("First tooth", note: "x")])
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    try putBack(before)
    try family[1].sync(usb)
    #expect(try titles("Liam") == ["First tooth"])
    #expect(incoming == [])
    try family[1].expectWhole()
  }

  /// Of two states that were fetched while locked the newer one counts, whichever came last.
  @Test func anOlderStateDoesNotTakeThePlaceOfANewerOne() throws {
    try family[0].write("Second", "x")
    try family[0].sync(usb)
    let older = usb.blobs
    try family[0].write("Third", "x")
    try family[0].sync(usb)
    let report = try syncLocked(family[1])
    #expect(report.problems == [])
    try putBack(older)
    // On a machine that has forgotten what the remote has shown.
    for path in family[1].stateStore.blobs.keys where path.string.hasSuffix(".state") {
      try family[1].stateStore.remove(path)
    }
    _ = try syncLocked(family[1])
    try family[1].sync(usb)
    #expect(try titles() == ["Visit", "Second", "Third"])
  }

  /// A head of which something is not to be had is kept, told, and taken when it is.
  @Test func whatCannotBeTakenYetIsKept() throws {
    let before = usb.blobs
    try family[0].write("New", "x")
    try family[0].sync(usb)
    let whole = usb.blobs
    _ = try syncLocked(family[1])
    try putBack(before)
    for path in incoming where path.string.contains("/objects/") {
      try family[1].stateStore.remove(path)
    }
    let kept = incoming
    let head = VaultPath.head(try family[0].emma.id, family[0].vault.device).string
    for _ in 0..<2 {
      let report = try family[1].sync(usb)
      #expect(report.problems.contains { $0.kind == .waiting && $0.path == head })
      #expect(incoming == kept)
    }
    #expect(try titles() == ["Visit"])
    try putBack(whole)
    #expect(try family[1].sync(usb).problems == [])
    #expect(try titles() == ["Visit", "New"])
    #expect(incoming == [])
  }

  /// What says that a device was removed came after its head was fetched, and is known before that is taken.
  @Test func nothingOfADeviceThatWasRemovedSinceIsTaken() throws {
    let family = try Family(count: 3)
    let usb = MemoryStore()
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try family[2].write("Lie", "of the thief")
    try family[2].sync(usb)
    try family[1].syncLocked(usb)
    let incoming = { family[1].stateStore.blobs.keys.filter { $0.string.hasPrefix("incoming/") } }
    #expect(!incoming().isEmpty)
    try family[0].vault.beginGeneration(
      removing: [family[2].vault.device], words: Family.words.words)
    try family[0].sync(usb)
    for _ in 0..<2 { try family[1].sync(usb) }
    #expect(try !family[1].contents().values.contains("of the thief"))
    #expect(incoming().isEmpty)
  }

  /// Whoever has a member's keys judges what was fetched as what a remote shows.
  @Test func whatWasFetchedAndIsDamagedIsNotTaken() throws {
    let before = usb.blobs
    try family[0].write("New", "x")
    try family[0].sync(usb)
    _ = try syncLocked(family[1])
    try putBack(before)
    for path in incoming where path.string.contains("/objects/") {
      var bytes = try #require(family[1].stateStore.blobs[path])
      bytes[bytes.count / 2] ^= 1
      try family[1].stateStore.put(path, bytes)
    }
    try family[1].sync(usb)
    #expect(try titles() == ["Visit"])
    try family[1].expectWhole()
  }

  /// Without the keys nothing tells what a remote has made up from what a head names.
  @Test(arguments: [false, true])
  func aRemoteThatMakesObjectsUpFillsNoDisk(givesMoreThanItLists: Bool) throws {
    try family[0].write("New", "x")
    try family[0].sync(usb)
    let member = try family[0].emma.id
    for number in 0..<80 {
      let name = try #require(ObjectName([UInt8](repeating: UInt8(number), count: 32)))
      let path = BlobPath(VaultPath.object(member, name).string)
      try usb.put(path, [UInt8](repeating: 7, count: 8192))
    }
    let hostile: any BlobStore =
      givesMoreThanItLists ? ListingStore.listingLess(usb, thanFilesOf: 8192) : usb
    let state = family[1].stateStore
    let used = state.space().totalBytes - state.space().availableBytes
    state.limit(toBytes: used + 800_000)
    for _ in 0..<3 {
      let report = try family[1].syncLocked(hostile)
      #expect(report.problems.map(\.kind) == [.tooMuchNew])
      // What the sync remembers of itself takes some room as well.
      #expect(state.space().availableBytes > 350_000)
      // As much again stays free, besides what is left free of all that is carried: else a sync with the keys could not take it.
      let fetched = state.blobs.filter { $0.key.string.hasPrefix("incoming/") }
      let held = fetched.values.reduce(0) { $0 + $1.count }
      #expect(held <= (800_000 - Int(state.space().totalBytes) / 20) / 2)
    }
    #expect(givesMoreThanItLists ? incoming.count > 40 : incoming == [])
    #expect(!incoming.contains { $0.string.contains("/heads/") })
    state.limit(toBytes: nil)
    try family[1].sync(usb)
    #expect(try titles() == ["Visit", "New"])
    #expect(incoming == [])
    try family[1].expectWhole()
  }

  private var incomingRequests: Int { incoming.count { $0.string.contains("/requests/") } }

  /// Whoever can write to a remote, without any key, puts more requests there each time, or others.
  @Test(arguments: [false, true])
  func whatOthersPutThereHasOneRoom(removesWhatWasThere: Bool) throws {
    let vault = family[1].vault
    let made = MadeUp(vault: vault.id, store: usb)
    var counts: Set<Int> = []
    for _ in 0..<3 {
      let paths = try (0..<30).map { _ in
        try BlobPath(made.request(to: vault.person).string)
      }
      _ = try syncLocked(family[1]) {
        $0.strangersLimit = CargoWeight(fileCount: 20, byteCount: 1 << 20)
      }
      counts.insert(incomingRequests)
      if removesWhatWasThere { for path in paths { try usb.remove(path) } }
    }
    #expect(counts.count == 1 && counts.allSatisfy { $0 > 0 && $0 <= 20 })
    try family[1].sync(usb)
    #expect(incoming == [])
  }

  @Test func statementsFillNoDisk() throws {
    let (vault, state) = (family[1].vault, family[1].stateStore)
    let made = MadeUp(vault: vault.id, store: usb)
    for _ in 0..<100 { _ = try made.request(to: vault.person) }
    let used = state.space().totalBytes - state.space().availableBytes
    state.limit(toBytes: used + 400_000)
    let report = try syncLocked(family[1])
    #expect(report.problems.map(\.kind) == [.tooMuchNew])
    #expect(incomingRequests > 0 && incomingRequests < 60)
    state.limit(toBytes: nil)
    try family[1].sync(usb)
    #expect(incoming == [])
  }

  /// What a lazy vault has left there is not fetched for a new note.
  @Test func aLazyVaultFetchesNoAttachmentsWhileLocked() throws {
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 3 << 20, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    try family[1].sync(usb)
    try family[0].write("New", "x")
    try family[0].sync(usb)
    let report = try syncLocked(family[1])
    #expect(report.problems.map(\.kind) == [.waiting])
    #expect(report.traffic.readByteCount < 64 << 10)
    #expect(incoming == [])
    try family[1].sync(usb)
    #expect(try titles() == ["Visit", "Scan", "New"])
  }

  @Test func aRollbackIsNamedWhileLockedToo() throws {
    let head = BlobPath(
      VaultPath.head(try family[0].emma.id, family[0].vault.device).string)
    let old = try #require(usb.blobs[head])
    try family[0].write("New", "x")
    try family.meet(at: usb)
    try usb.put(head, old)
    let report = try syncLocked(family[1])
    #expect(report.problems.contains { $0.kind == .wentBack && $0.path == head.string })
    #expect(usb.blobs[head] != old)
  }

  @Test func aFirstPushWorksWhileLocked() throws {
    let fresh = MemoryStore()
    let report = try RemoteSync(
      .locked(
        VaultCopy(
          id: family[0].vault.id, store: family[0].store,
          state: StateFolder(store: family[0].stateStore))), remote: fresh,
      name: #require(RemoteName("fresh"))
    ).run()
    #expect(report.problems == [])
    let newcomer = try Family()
    let pull = try newcomer[1].sync(fresh)
    #expect(pull.problems == [])
    #expect(try newcomer[1].contents() == (try family[0].contents()))
  }
}
