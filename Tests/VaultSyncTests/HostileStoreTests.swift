import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// What someone can do who has the remote and no key: each attack gets a name and words, changes nothing here, and
/// stops nothing else.
@Suite struct HostileStoreTests {
  private let family: Family
  private let usb = MemoryStore()
  private let note: RecordID

  init() throws {
    (family, note) = try Family.met(at: usb)
  }

  private var emma: MemberID { get throws { try family[0].emma.id } }

  private var liam: Member {
    get throws {
      let name = try #require(FileName("Liam"))
      return try #require(family[0].vault.member(named: name))
    }
  }

  private func head(of device: Int) throws -> BlobPath {
    BlobPath(VaultPath.head(try emma, family[device].vault.device).string)
  }

  private func bytes(_ path: BlobPath) throws -> [UInt8] { try #require(usb.blobs[path]) }

  /// The second device syncs: this problem is named, nothing here changes for the worse, and Liam goes on.
  private func expect(
    _ kind: SyncProblem.Kind, at path: BlobPath? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try family[1].contents()
    let edit = RecordEdit.newRecord("Liam goes on")
    _ = try liam.commit([edit])
    _ = try family[0].sync(usb) { options in
      options.direction = .push
      options.repairsRemote = false
    }
    let report = try family[1].sync(usb)
    let found = report.problems.filter { $0.kind == kind }
    #expect(!found.isEmpty, "\(report.problems)", sourceLocation: sourceLocation)
    if let path {
      #expect(found.contains { $0.path == path.string }, "\(found)", sourceLocation: sourceLocation)
    }
    #expect(found.allSatisfy { !$0.text.isEmpty }, sourceLocation: sourceLocation)
    let after = try family[1].contents()
    for (path, text) in before {
      #expect(after[path] == text, sourceLocation: sourceLocation)
    }
    #expect(
      try family[1].vault.member(liam.id)?.entry(edit.record) != nil, "Liam was held up",
      sourceLocation: sourceLocation)
    try family[1].expectWhole(sourceLocation: sourceLocation)
  }

  @Test func aHeadRolledBack() throws {
    let path = try head(of: 0)
    let old = try bytes(path)
    try family[0].edit(note, "second")
    try family.meet(at: usb)
    try usb.put(path, old)
    try expect(.wentBack, at: path)
    // The second device, which has the newer one, has put it there again.
    #expect(try bytes(path) != old)
  }

  @Test func aHeadRemoved() throws {
    try usb.remove(head(of: 0))
    try expect(.wentBack, at: try head(of: 0))
  }

  @Test func aClosingThatIsGoneIsPutThereAgain() throws {
    let closing = try #require(usb.blobs.keys.first { $0.parent?.name == "closings" })
    let bytes = try bytes(closing)
    try usb.remove(closing)
    let problems = try family[1].sync(usb).problems
    #expect(problems.map(\.kind) == [.wentBack] && problems.map(\.path) == [closing.string])
    #expect(try self.bytes(closing) == bytes)
    #expect(try family[1].sync(usb).problems == [])
  }

  @Test func aForkedHead() throws {
    // A copy of the first device's folder and state writes on its own.
    let copy = try Family()
    let stranger = copy[0]
    stranger.store = family[0].store.imageAfterKill()
    stranger.stateStore = family[0].stateStore.imageAfterKill()
    try stranger.reopen()
    try stranger.edit(note, "one history")
    try family[0].edit(note, "another history")
    let fork = MemoryStore()
    try stranger.sync(fork, as: "fork")
    try family.meet(at: usb)
    for (path, bytes) in fork.blobs { try usb.put(path, bytes) }
    try expect(.fork, at: try head(of: 0))
  }

  @Test func objectsWithheldSwappedTruncatedExtended() throws {
    let before = Set(usb.blobs.keys)
    try family[0].edit(note, "second")
    try family[0].sync(usb)
    // The segment first: once a good copy of it is here, nothing there can harm it. Its kind stands in the header.
    let new = usb.blobs.filter { !before.contains($0.key) }
      .sorted { $0.value[5] > $1.value[5] }.map(\.key)
    #expect(new.count == 2)
    for path in new {
      let good = try bytes(path)
      let other = try bytes(new.first { $0 != path } ?? path)
      let attacks: [(SyncProblem.Kind, [UInt8]?)] = [
        (.missingThere, nil), (.damagedThere, other), (.damagedThere, Array(good.dropLast())),
        (.damagedThere, good + [0]), (.damagedThere, []),
        (.damagedThere, good.dropLast(1) + [good[good.count - 1] ^ 1]),
      ]
      for (kind, bad) in attacks {
        if let bad { try usb.put(path, bad) } else { try usb.remove(path) }
        let report = try family[1].sync(usb)
        #expect(report.problems.contains { $0.kind == kind }, "\(report.problems)")
        #expect(report.untakenHeadCount > 0)
        #expect(try family[1].contents().values.contains("first"))
        try family[1].expectWhole()
        try usb.put(path, good)
      }
    }
    let report = try family[1].sync(usb)
    #expect(report.problems == [])
    #expect(try family[1].contents().values.contains("second"))
  }

  @Test func anotherMembersHeadUnderThisName() throws {
    let path = try head(of: 0)
    let other = BlobPath(VaultPath.head(try liam.id, family[0].vault.device).string)
    try usb.put(path, bytes(other))
    try expect(.damagedThere, at: path)
  }

  @Test func anotherMembersObjectUnderThisName() throws {
    try family[0].edit(note, "second")
    let before = Set(usb.blobs.keys)
    try family[0].sync(usb)
    let path = try #require(
      usb.blobs.keys.filter { !before.contains($0) }.min { $0.string < $1.string })
    let foreign = try #require(
      usb.blobs.keys.first { $0.string.hasPrefix("members/\(try liam.id.hex)/objects") })
    try usb.put(path, bytes(foreign))
    try expect(.damagedThere, at: path)
  }

  @Test func aDeviceThatWasNeverCertified() throws {
    // Someone makes keys of their own, and signs a head with them.
    let device = ThisDevice(
      signingSeed: SecretBytes(randomCount: 32), agreementPrivateKey: SecretBytes(randomCount: 32))
    let path = VaultPath.head(try emma, device.id)
    let files = SignedFiles(store: usb, binding: Binding(vault: family[0].vault.id))
    let open = try family[0].emma
    let body = HeadFile(
      member: open.id, person: family[0].vault.person, certificate: .random(), device: device.id,
      counter: 1_000, epoch: open.epoch, follows: open.register.links.history.tips,
      sealed: Sealed(
        nonce: [UInt8](repeating: 0, count: 12), ciphertext: [UInt8](repeating: 0, count: 32)
      ).encoded())
    try usb.put(
      BlobPath(path.string),
      files.statement(.head, body.encoded()) { device.signingKey.sign($0) })
    try expect(.damagedThere, at: BlobPath(path.string))
    #expect(family[1].store.blobs[BlobPath(path.string)] == nil)
  }

  @Test func aCertificateThatNobodySigned() throws {
    let certificate = try #require(
      usb.blobs.keys.first { $0.string.contains("/certificates/") })
    let path = BlobPath(VaultPath.certificate(family[0].vault.person, .random()).string)
    try usb.put(path, bytes(certificate))
    try expect(.damagedThere, at: path)
    #expect(family[1].store.blobs[path] == nil)
  }

  @Test func aStatementExchangedForAnother() throws {
    let paths = usb.blobs.keys.filter { $0.string.contains("/links/") }
      .sorted { $0.string < $1.string }
    let path = try #require(paths.first { $0.string.contains((try? emma.hex) ?? "?") })
    let other = try #require(paths.first { $0 != path })
    try usb.put(path, bytes(other))
    // Looked at when something of the member is new.
    try family[0].write("New", "new")
    try expect(.damagedThere, at: path)
  }

  @Test func garbageInPlaceOfEverySignedFile() throws {
    for path in usb.blobs.keys where !path.string.contains("/objects/") && path != "vault.json" {
      let good = try bytes(path)
      try usb.put(path, Array("garbage".utf8))
      let before = family[1].store.blobs.filter { !$0.key.string.hasPrefix("staging/") }
      let report = try family[1].sync(usb) {
        $0.looksEverywhere = true
        $0.direction = .pull
      }
      #expect(report.problems.contains { $0.path == path.string }, "\(path)")
      let after = family[1].store.blobs.filter { !$0.key.string.hasPrefix("staging/") }
      #expect(after == before, "\(path)")
      try usb.put(path, good)
    }
  }

  @Test func aMemberThatIsAllFalse() throws {
    let member = MemberID.random()
    let root = try #require(usb.blobs.first { $0.key.name == "root" })
    let path = BlobPath(VaultPath.memberRoot(member).string)
    try usb.put(path, root.value)
    let head = try bytes(try head(of: 0))
    try usb.put(
      BlobPath(VaultPath.head(member, family[0].vault.device).string), head)
    try expect(.damagedThere, at: path)
    #expect(family[1].vault.members.count == 2)
  }

  /// A copier leaves a file of a member whose root never comes, and the remote has another one.
  @Test func aLinkOfAMemberWithoutARootEndsNoSync() throws {
    let made = MadeUp(vault: family[0].vault.id, store: usb)
    let member = try made.member(of: made.person(), objectCount: 0)
    try usb.remove(BlobPath(VaultPath.memberRoot(member).string))
    let link = try #require(
      usb.blobs.keys.first { $0.string.hasPrefix("members/\(member.hex)/links/") })
    let garbage = BlobPath(VaultPath.link(member, .random()).string)
    for (path, bytes) in [(garbage, [1, 2, 3]), (link, try bytes(link))] {
      let edit = RecordEdit.newRecord("Liam goes on")
      _ = try liam.commit([edit])
      try family[0].sync(usb)
      try family[1].store.replace(path, bytes, durably: true)
      _ = try family[1].sync(usb)
      _ = try family[1].sync(usb) { $0.takesStrangers = true }
      #expect(try family[1].vault.member(liam.id)?.entry(edit.record) != nil)
    }
  }

  /// Neither garbage nor a sound link of nobody who has a place, in the folder here, keeps what is written here from others.
  @Test func aLinkThatDoesNotHoldHereKeepsNothingFromBeingSent() throws {
    let made = MadeUp(vault: family[0].vault.id, store: usb)
    let stray = try made.member(of: made.person(), objectCount: 0)
    let sound = try #require(
      usb.blobs.first { $0.key.string.hasPrefix("members/\(stray.hex)/links/") })
    let emma = try emma
    let name = try #require(sound.key.string.split(separator: "/").last)
    for (path, bytes) in [
      (BlobPath(VaultPath.link(emma, .random()).string), [1, 2, 3]),
      (BlobPath("members/\(emma.hex)/links/\(name)"), sound.value),
    ] as [(BlobPath, [UInt8])] {
      try family[0].store.replace(path, bytes, durably: true)
      let edit = RecordEdit.newRecord("Emma goes on")
      _ = try family[0].emma.commit([edit])
      let report = try family[0].sync(usb)
      #expect(report.problems.contains { $0.path == path.string }, "\(path) is told")
      _ = try family[1].sync(usb)
      #expect(try family[1].emma.entry(edit.record) != nil)
    }
  }

  /// A link that waits here for another one, which only the remote has, and by which its writer is no owner.
  @Test func aLinkThatNoLongerHoldsByWhatTheRemoteShowsEndsNoSync() throws {
    let made = MadeUp(vault: family[0].vault.id, store: usb)
    let mallory = try made.person()
    let emma = try emma
    func link(_ follows: [StatementID]) throws -> (path: BlobPath, bytes: [UInt8], id: StatementID)
    {
      let link = Link(
        member: emma, person: mallory.id, certificate: mallory.certificate,
        place: Place(link: emma.root, person: mallory.id), follows: follows,
        changes: [.give(mallory.id, .owner, until: 0)], time: 1)
      let files = SignedFiles(store: usb, binding: Binding(vault: family[0].vault.id))
      let body = link.encoded()
      let id = family[0].vault.id.statementID(.link, body: body)
      return (
        BlobPath(VaultPath.link(emma, id).string),
        files.statement(.link, body) { mallory.key.key.sign($0) }, id
      )
    }
    let first = try link([])
    let second = try link([first.id])
    for (path, bytes) in usb.blobs where path.string.contains(mallory.id.hex) {
      try family[1].store.replace(path, bytes, durably: true)
    }
    try family[1].store.replace(second.path, second.bytes, durably: true)
    try usb.put(first.path, first.bytes)
    let edit = RecordEdit.newRecord("Emma goes on")
    _ = try family[0].emma.commit([edit])
    try family[0].sync(usb)
    _ = try family[1].sync(usb)
    #expect(try family[1].emma.entry(edit.record) != nil)
  }

  @Test func namesThatLeadOutAndNamesOfOtherPrograms() throws {
    let hostile = ListingStore(usb) { folder, entries in
      guard folder.string.hasSuffix("/heads") else { return entries }
      return entries
        + ["..", ".", "../../../x", "a/b", "head (conflicted copy).tmp"].map {
          BlobEntry(name: $0, kind: .blob, size: 10, fingerprint: 1)
        }
    }
    try family[0].edit(note, "second")
    try family[0].sync(usb)
    let report = try family[1].sync(hostile)
    let found = report.problems.filter { $0.kind == .foreignFile }.map(\.path)
    #expect(found.contains { $0.hasSuffix("..") })
    #expect(found.contains { $0.hasSuffix("head (conflicted copy).tmp") })
    #expect(report.problems.allSatisfy { $0.severity == .note })
    #expect(try family[1].contents().values.contains("second"))
  }

  @Test func aListingWithoutEnd() throws {
    let hex = try emma.hex
    let hostile = ListingStore(usb) { folder, entries throws(BlobStoreError) in
      guard folder.string == "members/\(hex)/heads" else { return entries }
      throw .endlessListing(folder: folder.string, limit: 1)
    }
    let edit = RecordEdit.newRecord("Liam goes on")
    _ = try liam.commit([edit])
    try family[0].sync(usb)
    let report = try family[1].sync(hostile)
    #expect(report.problems.contains { $0.kind == .endlessListing })
    #expect(try family[1].vault.member(liam.id)?.entry(edit.record) != nil)
    try family[1].expectWhole()
  }

  /// Under the name of a device that is known, so that each is read.
  @Test func logsThatDoNotHoldWithoutEnd() throws {
    let device = family[0].vault.device
    for number in 1...1500 {
      let path = VaultPath.auditSegment(device, first: UInt64(number))
      try usb.put(BlobPath(path.string), [1, 2, 3])
    }
    let report = try family[1].sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.contains { $0.kind == .tooMuchNew && $0.path == "audit" })
    #expect(report.traffic.readCount < 1100)
    try family[1].expectWhole()
  }

  /// Each folder ends, and there are more of them than a machine can hold.
  @Test func membersWithoutEnd() throws {
    let made = (0..<20).map { _ in MemberID.random().hex }
    let hostile = ListingStore(usb) { folder, entries in
      if folder.string == "members" {
        return entries
          + made.map { BlobEntry(name: $0, kind: .folder, size: 0, fingerprint: 0) }
      }
      guard folder.name == "heads", made.contains(where: { folder.string.contains($0) }) else {
        return entries
      }
      return (0..<1000).map { _ in
        BlobEntry(name: DeviceID.random().hex, kind: .blob, size: 300, fingerprint: 1)
      }
    }
    let session = SyncSession(
      home: SyncHome(family[0].vault, vouching: nil), side: RemoteSide(store: hostile),
      memory: RemoteMemory(), order: SyncOrder(options: SyncOptions(), progress: { _ in }))
    let local = try LocalLook.ofFolder(family[0].store)
    let look = try RemoteLooking(session: session, local: local, memberNameLimit: 5000).look()
    // One folder on each thread is listed beyond that.
    #expect(look.files.count < 5000 + (SyncOptions().threadCount + 1) * 1000)
    #expect(session.report.problems.contains { $0.kind == .endlessListing })
    for member in try [emma, liam.id] {
      #expect(!look.givenUp.contains(member))
      #expect(look.heads(of: member).contains(family[0].vault.device))
    }
  }

  @Test(arguments: ["people", "members"], [false, true])
  func aListThatBreaksOffCallsNothingLost(of cut: String, looksEverywhere: Bool) throws {
    let hostile = ListingStore(usb) { folder, entries throws(BlobStoreError) in
      guard folder.string == cut else { return entries }
      throw .endlessListing(folder: folder.string, limit: 1)
    }
    for device in family.devices {
      for isDryRun in [true, false] {
        let report = try device.sync(hostile) {
          $0.looksEverywhere = looksEverywhere
          $0.isDryRun = isDryRun
        }
        #expect(report.problems.map(\.kind) == [.endlessListing], "\(report.problems)")
        #expect(report.moves.allSatisfy { $0.direction == .pull || $0.path.owner == .other })
      }
      #expect(try device.sync(usb).problems == [])
    }
  }

  @Test func aMembersFolderThatIsGoneIsToldOnce() throws {
    let id = try liam.id
    let folder = "members/\(id.hex)"
    let root = BlobPath(VaultPath.memberRoot(id).string)
    for path in usb.blobs.keys where path.string.hasPrefix(folder + "/") { try usb.remove(path) }
    for isDryRun in [true, false] {
      let report = try family[1].sync(usb) {
        $0.looksEverywhere = true
        $0.isDryRun = isDryRun
      }
      let told = report.problems.filter { $0.kind == .wentBack && !$0.path.contains("/heads/") }
      #expect(told.map(\.path) == [folder], "\(told)")
      #expect(told.allSatisfy { !$0.text.contains("was put there again") })
      #expect((usb.blobs[root] == nil) == isDryRun)
    }
  }

  /// 100,000 files of 1 MiB that nobody has signed: 64 MiB of them at most are ever in memory, and keep nothing out.
  @Test func moreThanFitsIntoMemory() throws {
    let hostile = HeavyStore(
      usb, fileCount: RemoteLook.nameLimit / 2, of: family[0].vault.person)
    let edit = RecordEdit.newRecord("Liam goes on")
    _ = try liam.commit([edit])
    try family[0].sync(usb)
    let report = try family[1].sync(hostile)
    let found = report.problems.filter { $0.kind == .tooMuchNew }
    #expect(found.count == 1)
    #expect((1...64).contains(hostile.readCount), "\(hostile.readCount)")
    #expect(try family[1].vault.member(liam.id)?.entry(edit.record) != nil)
    // What is left over is neither put there anew nor forgotten here.
    try family[1].write("Visit after", "second")
    _ = try family[1].sync(hostile)
    try family[0].sync(usb)
    #expect(try family[0].contents().values.contains("second"))
    try family[1].expectWhole()
  }

  @Test func aHeadThatSomeoneSawAndTheStoreHides() throws {
    // The third device's head is seen by the first, which does not carry it on.
    let family = try Family(count: 3)
    let (usb, other) = (MemoryStore(), MemoryStore())
    try family.meet(at: usb)
    try family[2].write("Third", "x")
    try family[2].sync(other, as: "other")
    try family[0].sync(other, as: "other")
    try family[0].write("First", "y")
    let hidden = VaultPath.head(try family[0].emma.id, family[2].vault.device).string
    let before = usb.blobs[BlobPath(hidden)]
    try family[0].sync(usb)
    if let before {
      try usb.put(BlobPath(hidden), before)
    } else {
      try usb.remove(BlobPath(hidden))
    }
    let report = try family[1].sync(usb)
    #expect(report.problems.contains { $0.kind == .withheld && $0.path == hidden })
    #expect(try family[1].emma.record(titled: "First") != nil)
  }

  @Test func anOldBackupOfTheRemoteIsToldAndRepaired() throws {
    let backup = usb.imageAfterKill()
    for text in ["second", "third"] {
      try family[0].edit(note, text)
      try family[0].write("New \(text)", text)
      try family.meet(at: usb)
    }
    let report = try family[0].sync(backup)
    #expect(report.problems.contains { $0.kind == .wentBack })
    #expect(report.isComplete)
    // Whoever comes now finds everything.
    let newcomer = try Family()
    let pull = try newcomer[1].sync(backup)
    #expect(pull.problems.filter { $0.severity > .note } == [])
    #expect(try newcomer[1].contents() == (try family[0].contents()))
    let again = try family[0].sync(backup)
    #expect(again.problems == [])
  }

  @Test func aMassDeletionAsksFirst() throws {
    let edits = (0..<50).map { RecordEdit.newRecord("Record \($0)") }
    _ = try family[0].emma.commit(edits)
    try family.meet(at: usb)
    for edit in edits.prefix(30) { try family[0].delete(edit.record) }
    try family[0].sync(usb)
    let report = try family[1].sync(usb)
    #expect(report.massChanges[try emma]?.deletedCount == 30)
    #expect(report.problems.contains { $0.kind == .massChange })
    #expect(report.mayBringMore)
    #expect(try family[1].emma.recordCount == 52)
    // Whoever did not see this report, for it was a mount's, is told all the same.
    let memory = RemoteStateFile(
      state: StateFolder(store: family[1].stateStore), remote: try #require(RemoteName("usb")))
    #expect(try memory.load().findings.filter(\.needsDecision).count == 1)
    let accepted = try family[1].sync(usb) { $0.acceptsMassChange = true }
    #expect(accepted.problems.isEmpty)
    #expect(!accepted.mayBringMore)
    #expect(try memory.load().findings.isEmpty)
    #expect(try family[1].emma.recordCount == 22)
  }

  /// Fifty records that both have, of which the first one's head then moves thirty, with entries that say of the
  /// revisions what `change` makes of the truth.
  private func thirtyMoves(
    _ place: (inout RecordPlace) -> Void, claimedAs change: (inout RecordEntry) -> Void
  ) throws {
    let edits = (0..<50).map { RecordEdit.newRecord("Record \($0)") }
    let member = try family[0].emma
    _ = try member.commit(edits)
    try family.meet(at: usb)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      for record in edits.prefix(30).map(\.record) {
        let known = try #require(member.entry(record))
        var edit = RecordEdit(record: record)
        var new = RecordPlace(parent: known.parent, title: known.title)
        place(&new)
        edit.place = new
        try writer.add([edit])
        var entry = try #require(writer.written[record])
        change(&entry)
        writer.written[record] = entry
      }
      _ = try writer.finish()
      heads = writer.heads
    }
    try family[0].sync(usb)
  }

  @Test func aMassDeletionThatEntriesHideAsksFirst() throws {
    try thirtyMoves {
      $0.isDeleted = true
    } claimedAs: {
      $0.isDeleted = false
    }
    let before = family[1].store.blobs.keys
    let report = try family[1].sync(usb)
    #expect(report.massChanges[try emma]?.deletedCount == 30)
    #expect(try family[1].emma.recordCount == 52)
    let new = family[1].store.blobs.keys.filter { !before.contains($0) }
    #expect(new.filter { $0.string.contains("/objects/") }.count <= 1)
    try family[1].sync(usb) { $0.acceptsMassChange = true }
    #expect(try family[1].emma.recordCount == 22)
  }

  @Test func aMassDeletionThatOnlyEntriesClaimStopsNothing() throws {
    let title = try #require(FileName("Of a new name"))
    try thirtyMoves {
      $0.title = title
    } claimedAs: {
      $0.isDeleted = true
    }
    let report = try family[1].sync(usb)
    #expect(report.massChanges.isEmpty)
    #expect(report.problems.filter { $0.severity > .note } == [])
    #expect(try family[1].emma.recordCount == 52)
    #expect(try family[1].emma.record(titled: "Of a new name") != nil)
  }
}
