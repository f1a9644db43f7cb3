import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// When a sync is over before the lists of records are read, and when not.
@Suite struct QuickSyncTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    try family[0].write("Visit", "all well")
    try family.meet(at: usb)
    for device in family.devices { try device.sync(usb) }
  }

  private func still(
    _ remote: any BlobStore, as name: String = "usb", after: UInt64 = 0,
    _ options: SyncOptions = SyncOptions()
  ) throws -> SyncReport? {
    let device = family[0]
    let now = device.clock.milliseconds() + after
    let copy = VaultCopy(
      id: device.vault.id, store: device.store, state: StateFolder(store: device.stateStore),
      clock: WallClock { now })
    return try RemoteSync(
      .heads(copy) { () throws(VaultError) in nil }, remote: remote,
      name: #require(RemoteName(name)), options: options
    ).runIfEnough().report
  }

  @Test func nothingToDoNeedsNoVault() throws {
    let before = family[0].store.blobs
    let report = try #require(try still(usb))
    #expect(report.isComplete)
    #expect(report.problems == [])
    #expect(report.pulled.isEmpty && report.pushed.isEmpty)
    #expect(report.traffic.requestCount <= 10)
    #expect(family[0].store.blobs == before)
  }

  /// No remote has it yet either. An open vault puts it back, and there.
  @Test func anOwnHeadThatIsGoneNeedsTheVault() throws {
    let device = family[1]
    let head = BlobPath(VaultPath.head(try device.emma.id, device.vault.device).string)
    #expect(device.store.blobs[head] == nil && usb.blobs[head] == nil)
    try device.write("Letter", "of the other one")
    try device.store.remove(head)
    let quick = try device.quickSync(usb)
    #expect(quick == nil)
    try device.reopen()
    try device.sync(usb)
    #expect(usb.blobs[head] != nil)
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("of the other one"))
  }

  @Test func aSuccessIsRemembered() throws {
    let file = RemoteStateFile(
      state: StateFolder(store: family[0].stateStore), remote: try #require(RemoteName("usb")))
    let before = try file.load()
    _ = try still(usb, after: 1000)
    #expect(try file.load().lastSuccess ?? 0 > before.lastSuccess ?? 0)
  }

  /// The remote is gone and this machine's disk is full: what a person has to know is the first.
  @Test func aFailureThatCannotBeKeptIsToldAllTheSame() throws {
    let device = family[0]
    let remote = FaultyStore(usb)
    for kind in [StoreCall.Kind.list, .page, .read] {
      remote.fail(kind, number: 1, andAllLater: true, with: .unreachable)
    }
    let state = FaultyStore(device.stateStore)
    state.fail(.replace, number: 1, andAllLater: true, with: .noSpace)
    let copy = VaultCopy(
      id: device.vault.id, store: device.store, state: StateFolder(store: state),
      clock: device.clock.wallClock)
    let sync = try RemoteSync(
      .heads(copy) { () throws(VaultError) in nil }, remote: remote,
      name: #require(RemoteName("usb")))
    let error = #expect(throws: SyncError.self) { try sync.runIfEnough() }
    guard case .remote = error else {
      Issue.record("told was \(String(describing: error))")
      return
    }
  }

  @Test func anEditHereAsksTheRemoteNothing() throws {
    try family[0].write("Visit 2", "well again")
    let recording = RecordingStore(usb)
    #expect(try still(recording) == nil)
    #expect(recording.calls.isEmpty)
  }

  @Test func anEditThereNeedsASync() throws {
    try family[1].write("Visit 2", "well again")
    try family[1].sync(usb)
    let memory = family[0].stateStore.blobs
    #expect(try still(usb) == nil)
    #expect(family[0].stateStore.blobs == memory)
  }

  @Test func aNewPersonOrLinkThereNeedsASync() throws {
    _ = try family[1].vault.addMember(named: #require(FileName("Liam")))
    try family[1].sync(usb)
    #expect(try still(usb) == nil)
  }

  @Test func aRemoteThatLostSomethingNeedsASync() throws {
    for path in usb.blobs.keys where path.name != "vault.json" {
      let isSigned = !path.string.contains("/objects/") && !path.string.hasPrefix("audit")
      // Of members only heads are listed where nothing is new.
      let isListed = !path.string.hasPrefix("members/") || path.string.contains("/heads/")
      guard isSigned, isListed else { continue }
      let poorer = MemoryStore()
      for (other, bytes) in usb.blobs where other != path { try poorer.put(other, bytes) }
      #expect(try still(poorer) == nil, "\(path)")
    }
    #expect(throws: SyncError.self) { try still(MemoryStore()) }
  }

  @Test func aFolderThatWentBackOnBothSidesNeedsASync() throws {
    let (old, there) = (family[0].store.imageAfterKill(), MemoryStore())
    for (path, bytes) in usb.blobs { try there.put(path, bytes) }
    try family[0].sync(there, as: "other")
    #expect(try still(there, as: "other") != nil)
    try family[0].write("Visit 2", "well again")
    family[0].store = old
    #expect(try still(there, as: "other") == nil)
  }

  @Test func onceADayEverythingIsLookedAt() throws {
    #expect(try still(usb, after: 90_000_000) == nil)
    var options = SyncOptions()
    options.looksEverywhere = true
    #expect(try still(usb, options) == nil)
  }

  // MARK: What was committed here

  @Test func anEditIsPutThereWithoutTheListOfRecords() throws {
    for number in 0..<40 { try family[0].write("Record \(number)", "n") }
    try family.meet(at: usb)
    let note = try family[0].write("Visit 2", "well again")
    try family[0].edit(note, "quite well")
    let recording = RecordingStore(family[0].store)
    let report = try #require(try family[0].quickSync(usb, on: recording))
    #expect(report.isComplete && report.problems == [])
    #expect(report.pushed.registerCount == 1)
    // Two segments and two revisions, of more than forty.
    #expect(Set(recording.calls(.read).map(\.path).filter(\.isObject)).count <= 5)
    try family[1].sync(usb)
    try family.expectAgreement()
    #expect(try still(usb) != nil)
  }

  @Test func anEditedNoteCostsThreeUploads() throws {
    let note = try family[0].write("Visit 2", "well again")
    try family[0].vault.audit.publish()
    try family.meet(at: usb)
    try family[0].edit(note, "quite well")
    // As a command does when it ends, and a mount a minute after a write.
    try family[0].vault.audit.publish()
    let report = try #require(try family[0].quickSync(usb))
    #expect(report.traffic.putCount == 3)
    #expect(report.traffic.putByteCount <= 2048)
  }

  /// The register that says where the log ends goes to a remote with the log, and every other one at once.
  @Test func whereTheLogEndsGoesWithTheLog() throws {
    let vault = family[0].vault
    let path = BlobPath(VaultPath.device(vault.person, vault.device).string)
    func register(_ store: any BlobStore) throws -> [UInt8] {
      try store.read(path, limit: Limits.signedFileBytes)
    }
    let note = try family[0].write("Visit 2", "well again")
    // The first register that is written so tells names as well.
    try vault.audit.publish()
    try family.meet(at: usb)
    let before = try register(usb)
    for text in ["well", "quite well"] {
      try family[0].edit(note, text)
      try vault.audit.publish()
      let report = try family[0].sync(usb)
      #expect(report.problems == [] && report.pushed.registerCount == 1)
      #expect(try register(usb) == before)
      #expect(try register(family[0].store) != before)
      // Which nobody else takes for a remote that lacks something.
      #expect(try family[1].sync(usb).problems == [])
    }
    try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(try register(usb) == register(family[0].store))
    try family[0].edit(note, "well")
    try vault.audit.publish()
    try vault.renameDevice(to: "kitchen")
    try vault.audit.publish()
    try family[0].sync(usb)
    #expect(try register(usb) == register(family[0].store))
  }

  @Test func aSharedPhotoIsNotSentAgain() throws {
    for number in 0..<2 {
      var edit = RecordEdit.newRecord("Record \(number)", note: "n")
      edit.items[try #require(FileName("photo.jpg"))] =
        try .photo("photo.jpg", byteCount: 200_000, seed: 1, in: family[0].emma)
      try family[0].commit(edit)
      let report = try #require(try family[0].quickSync(usb))
      #expect((report.traffic.putByteCount > 200_000) == (number == 0))
    }
    // What was not sent because it is there is looked for once more.
    #expect(try family[0].quickSync(usb) == nil)
    #expect(try family[0].sync(usb).problems == [])
    #expect(try family[0].quickSync(usb) != nil)
    try family[1].sync(usb)
    try family.expectAgreement()
  }

  @Test func whatAnotherDeviceBroughtIsCarriedOn() throws {
    let other = MemoryStore()
    for _ in 0..<2 { try family[0].sync(other, as: "other") }
    try family[1].write("Visit 2", "well again")
    try family[1].sync(usb)
    try family[0].sync(usb)
    let report = try #require(try family[0].quickSync(other, as: "other"))
    #expect(report.pushed.registerCount == 1)
    let check = try RemoteCheck(vault: family[0].vault, remote: other).run(readsData: true)
    #expect(check.problems == [] && check.unsyncedRecordCount == 0)
  }

  @Test func editsOnBothSidesNeedAWholeSync() throws {
    try family[1].write("Visit 2", "there")
    try family[1].sync(usb)
    try family[0].write("Visit 3", "here")
    let before = usb.blobs
    #expect(try family[0].quickSync(usb) == nil)
    #expect(usb.blobs == before)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func somethingBrokenNeedsAWholeSync() throws {
    let head = try #require(family[0].store.blobs.keys.first { $0.string.contains("/heads/") })
    let old = try #require(family[0].store.blobs[head])
    let known = Set(family[0].store.blobs.keys)
    try family[0].write("Visit 2", "well again")
    let whole = family[0].store.blobs
    let heads = usb.blobs.filter { $0.key.string.contains("/heads/") }
    for path in whole.keys where path.isObject && !known.contains(path) {
      try family[0].store.remove(path)
      #expect(try family[0].quickSync(usb) == nil)
      try family[0].store.replace(path, try #require(whole[path]), durably: true)
    }
    // Older than this machine has seen it.
    try family[0].store.replace(head, old, durably: true)
    #expect(try family[0].quickSync(usb) == nil)
    #expect(usb.blobs.filter { $0.key.string.contains("/heads/") } == heads)
  }

  @Test func aDryRunAndAPullNeedAWholeSync() throws {
    try family[0].write("Visit 2", "well again")
    var options = SyncOptions()
    options.isDryRun = true
    #expect(try family[0].quickSync(usb, options) == nil)
    options = SyncOptions()
    options.direction = .pull
    #expect(try family[0].quickSync(usb, options) == nil)
  }

  @Test func aRemoteThatCannotBeReachedIsTold() throws {
    let broken = FaultyStore(usb)
    broken.fail(.read, with: .unreachable)
    #expect(throws: SyncError.self) { try still(broken) }
  }
}

extension BlobPath {
  fileprivate var isObject: Bool { string.contains("/objects/") }
}
