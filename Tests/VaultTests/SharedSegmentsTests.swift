import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A head names another device's segments where that saves writing the same anew: Docs/Format.md, "Manifests and heads".
@Suite struct SharedSegmentsTests {
  private let replicas: Replicas

  init() throws {
    replicas = try Replicas(count: 3)
    let edits = (0..<1000).map { RecordEdit.newRecord("Record \($0)") }
    _ = try replicas[0].member.commit(edits)
    try replicas.everyoneMeets()
  }

  private func head(of device: Int) throws -> Head {
    let id = replicas[device].vault.device
    let heads = try replicas[device].member.openedHeads
    return try #require(heads.first { $0.device == id }).head
  }

  /// The sizes of the segments that are in the folder now and were not before.
  private func newSegmentBytes(on device: Int, _ body: () throws -> Void) throws -> Int {
    let before = Set(replicas[device].store.blobs.keys)
    try body()
    return replicas[device].store.blobs.reduce(0) { sum, blob in
      let isNew = !before.contains(blob.key) && blob.key.string.contains("/objects/")
      return isNew && blob.value[5] == ObjectKind.segment.rawValue ? sum + blob.value.count : sum
    }
  }

  /// The device's folder as another program of the device finds it now.
  private func fresh(_ device: Int) throws -> Replicas.Replica {
    let replica = replicas[device]
    return Replicas.Replica(
      store: replica.store, state: replica.state, clock: replica.clock,
      vault: try open(device, on: replica.store))
  }

  private func open(_ device: Int, on store: any LocalStore) throws -> Vault {
    let replica = replicas[device]
    let password = device == 0 ? MemoryVault.password : "pw"
    let key = try UnlockSlots(vault: replica.vault.id, state: replica.state)
      .open(password: SecretBytes(copying: Array(password.utf8))).takeKey()
    return try Vault.open(
      VaultCopy(
        id: replica.vault.id, store: store, state: replica.state, clock: replica.clock.wallClock),
      key: key, options: OpenOptions())
  }

  private func expectFreshIsLive(_ device: Int) throws {
    let fresh = try fresh(device)
    #expect(try fresh.contents() == replicas[device].contents())
    #expect(try fresh.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  @Test func aFirstHeadNamesWhatAnotherOneHolds() throws {
    let written = try newSegmentBytes(on: 1) {
      try replicas[1].commit(.newRecord("Mine"))
    }
    #expect(written < 1024)
    let (first, second) = (try head(of: 0), try head(of: 1))
    #expect(second.checkpoint == first.checkpoint)
    #expect(second.deltas.count == first.deltas.count + 1)
    #expect(second.deltas.starts(with: first.deltas))
    try expectFreshIsLive(1)
    try replicas.everyoneMeets()
    for device in 0..<3 {
      #expect(try replicas[device].contents() == replicas[0].contents())
      try expectFreshIsLive(device)
    }
  }

  @Test func manyRecordsOfAnotherDeviceAreNotWrittenAgain() throws {
    try replicas[1].commit(.newRecord("Mine"))
    try replicas.everyoneMeets()
    let edits = (0..<3000).map { RecordEdit.newRecord("Later \($0)") }
    _ = try replicas[0].member.commit(edits)
    try replicas.everyoneMeets()
    let written = try newSegmentBytes(on: 1) {
      try replicas[1].commit(.newRecord("Mine too"))
    }
    #expect(written < 2048)
    try expectFreshIsLive(1)
  }

  @Test func aHeadOnAnotherOnesSegmentsTellsItsWholeLine() throws {
    let device = replicas[1].vault.device
    var marks: [HeadMark] = []
    for number in 0..<20 {
      try replicas[1].commit(.newRecord("Mine \(number)"))
      let heads = try replicas[1].member.openedHeads
      marks.append(try #require(heads.first { $0.device == device }).mark)
    }
    try replicas.everyoneMeets()
    let edits = (0..<3000).map { RecordEdit.newRecord("Later \($0)") }
    _ = try replicas[0].member.commit(edits)
    try replicas[0].member.commitCheckpoint()
    try replicas.everyoneMeets()
    for number in 0..<20 {
      try replicas[1].commit(.newRecord("Mine too \(number)"))
      #expect(try head(of: 1).checkpoint == head(of: 0).checkpoint)
      for replica in [replicas[1], try fresh(1)] {
        let lineage = try replica.member.heads.withLock { $0.lines[device] }
        #expect(marks.filter { !lineage.contains($0) } == [])
      }
      let heads = try replicas[1].member.openedHeads
      marks.append(try #require(heads.first { $0.device == device }).mark)
    }
  }

  /// What a head cannot know of another device's changes stands in its delta.
  @Test func whatTheOtherHeadLacksIsWritten() throws {
    // The third device's record reaches the second one alone.
    try replicas[2].commit(.newRecord("Of the third"))
    try replicas.carry(from: 2, to: 1)
    try replicas[1].commit(.newRecord("Mine"))
    let known = try replicas[1].contents()
    // Only the second one's own head is left.
    for device in [0, 2] {
      let id = replicas[device].vault.device
      try replicas[1].store.remove(
        BlobPath(VaultPath.head(replicas[1].member.id, id).string))
    }
    #expect(try fresh(1).contents() == known)
  }

  @Test func theSharedSegmentsStayWhileAHeadNamesThem() throws {
    try replicas[1].commit(.newRecord("Mine"))
    try replicas.everyoneMeets()
    let shared = try head(of: 1).segments
    // The first device's head names others by now.
    try replicas[0].member.commitCheckpoint()
    #expect(try Set(head(of: 0).segments).isDisjoint(with: shared))
    for _ in 0..<6 {
      try replicas.everyoneMeets()
      for device in 0..<3 {
        _ = try replicas[device].vault.collect(keepDays: 0, isDryRun: false)
        try replicas[device].commit(.newRecord("\(device)"))
      }
    }
    try replicas.everyoneMeets()
    for device in 0..<3 {
      for name in try head(of: 1).segments {
        #expect(try replicas[device].member.objects.isPresent(name))
      }
      try expectFreshIsLive(device)
    }
  }

  /// The second device has never written when the first one collects; a program that carries removals brings them.
  @Test func collectKeepsWhatADeviceWithoutAHeadMayName() throws {
    let member = try replicas[0].member
    let shared = try head(of: 0).segments
    try replicas[0].commit(.newRecord("Not carried on yet"))
    try member.commitCheckpoint()
    #expect(try Set(head(of: 0).segments).isDisjoint(with: shared))
    replicas[0].clock.advance(days: 10)
    #expect(try replicas[0].vault.collect(keepDays: 90, isDryRun: false).objectCount == 0)
    try replicas[1].commit(.newRecord("Mine"))
    #expect(try head(of: 1).checkpoint == Array(shared.prefix(1)))
    for name in shared { #expect(try member.objects.isPresent(name)) }
    // It is not kept for ever.
    replicas[0].clock.advance(days: 100)
    let report = try replicas[0].vault.collect(keepDays: 90, acceptsClock: true, isDryRun: false)
    #expect(report.objectCount > 0)
  }

  /// The disk has lost all that the record was. The second device knows it as it was before, and has never written.
  @Test func aRepairKeepsADeletedRecordThatADeviceWithoutAHeadMayKnow() throws {
    let first = replicas[0]
    let member = try first.member
    let record = try #require(member.allEntries().first { $0.title.string == "Record 7" }).record
    try first.commit(member.edits(deleting: record))
    for version in try member.history(of: record) {
      try first.store.remove(member.objects.path(of: version.digest))
    }
    first.vault = try open(0, on: first.store)
    _ = try first.vault.repair()
    #expect(try first.member.entry(record)?.isDeleted == true)
    try replicas[1].commit(.newRecord("Mine"))
    try replicas.carry(from: 1, to: 0)
    #expect(try first.member.entry(record)?.isDeleted == true)
  }

  @Test func whatIsAnnouncedToGoIsNotNamedAnew() throws {
    try replicas[2].commit(.newRecord("Of the third"))
    try replicas.everyoneMeets()
    // The third device's head names the first one's checkpoint, which the first one means to remove.
    let shared = try head(of: 2).checkpoint
    let first = try replicas[0].member
    try first.commitCheckpoint()
    let names = shared.map(first.objects.name)
    try first.withWriter { (writer, _) throws(VaultError) in try writer.announce(names) }
    try replicas.carry(from: 0, to: 1)
    try replicas[1].commit(.newRecord("Mine"))
    let own = try head(of: 1)
    #expect(Set(own.segments).isDisjoint(with: shared))
    #expect(own.checkpoint == (try head(of: 0).checkpoint))
  }

  /// The running program knows what the segment held, and has removed it since.
  @Test func aSegmentThatIsGoneIsNotTakenForOneThatIsHere() throws {
    let shared = try head(of: 0).checkpoint
    try replicas[1].commit(.newRecord("Mine"))
    try replicas[0].commit(.newRecord("Not carried on yet"))
    try replicas[0].member.commitCheckpoint()
    #expect(try Set(head(of: 0).segments).isDisjoint(with: shared))
    let gone = try replicas[0].member.objects.path(of: shared[0])
    let bytes = try replicas[0].store.read(gone, limit: 16 << 20)
    try replicas[0].store.remove(gone)
    // The head alone comes, without what it names.
    let id = replicas[1].vault.device
    let head = BlobPath(VaultPath.head(try replicas[1].member.id, id).string)
    for (path, bytes) in replicas[1].store.blobs
    where path == head || path.string.contains("/objects/") && path != gone {
      try replicas[0].store.replace(path, bytes, durably: false)
    }
    _ = try replicas[0].member.refresh()
    #expect(try replicas[0].member.knownCounters[id] == nil)
    try replicas[0].store.replace(gone, bytes, durably: false)
    _ = try replicas[0].member.refresh()
    #expect(try replicas[0].member.knownCounters[id] != nil)
  }

  @Test func theOthersSegmentsAreOnTheDiskBeforeTheHead() throws {
    let shared = try head(of: 0).segments
    let recording = RecordingStore(replicas[1].store)
    let vault = try open(1, on: recording)
    let member = try #require(vault.members.first)
    recording.forgetCalls()
    _ = try member.commit([.newRecord("Mine")])
    let calls = recording.calls(.takeOver, .barrier)
    let barrier = try #require(calls.firstIndex { $0.kind == .barrier })
    let waitedFor = Set(calls[..<barrier].map(\.path))
    #expect(waitedFor.isSuperset(of: shared.map(member.objects.path(of:))))
  }

  /// Has a device say, in a segment that its head names, what came before the heads of another one.
  private func lie(on number: Int, aboutTheLineOf victim: Int) throws -> HeadMark {
    let liar = try replicas[number].member
    let lie = HeadMark(counter: 7, hash: Digest.sha256([7]))
    let lineage = SegmentLineage(device: replicas[victim].vault.device, marks: [lie])
    try liar.withWriter { (writer, _) throws(VaultError) in
      let use = try liar.objects.stage(.segment, Segment(entries: [], lineage: lineage).encoded())
      try liar.objects.publish(use.digest)
      try writer.writeHead(.append) { $0.deltas.append(use.digest) }
    }
    return lie
  }

  /// Who has the member's keys can write anything into a segment, of another device's line too.
  @Test func whatAnotherDeviceSaysOfThisLineIsNotTakenOver() throws {
    let device = replicas[1].vault.device
    let lie = try lie(on: 0, aboutTheLineOf: 1)
    try replicas.carry(from: 0, to: 1)
    try replicas[1].commit(.newRecord("Mine"))
    try replicas.carry(from: 1, to: 2)
    for replica in [replicas[1], try fresh(1), replicas[2]] {
      #expect(try replica.member.knownCounters[device] != nil)
      #expect(try !replica.member.heads.withLock { $0.lines[device] }.contains(lie))
    }
  }

  /// The same version of the same revision, under another title.
  @Test func whatAnotherDeviceSaysOfARevisionIsNotTakenOver() throws {
    let liar = try replicas[0].member
    var entry = try #require(liar.record(titled: "Record 7"))
    entry.title = try #require(FileName("A lie"))
    let lie = entry
    liar.state.withLock { $0.rename([lie]) }
    try liar.commitCheckpoint()
    try replicas.carry(from: 0, to: 1)
    try replicas[1].commit(.newRecord("Mine"))
    let known = try replicas[1].contents()
    #expect(known.keys.contains { $0.contains("Record 7[") })
    // Only the second one's own head is left.
    try replicas[1].store.remove(
      BlobPath(VaultPath.head(liar.id, replicas[0].vault.device).string))
    #expect(try fresh(1).contents() == known)
  }

  /// The third device has seen a newer head of the first one's than the one that is here: what this one names may have
  /// been announced, seen and removed meanwhile.
  @Test func nothingIsTakenFromAHeadThatWasSeenReplaced() throws {
    let shared = try head(of: 0).segments
    try replicas[0].member.commitCheckpoint()
    try replicas.carry(from: 0, to: 2)
    // Of the third one's head nothing is taken either.
    _ = try lie(on: 2, aboutTheLineOf: 1)
    let member = try replicas[1].member
    let first = BlobPath(VaultPath.head(member.id, replicas[0].vault.device).string)
    for (path, bytes) in replicas[2].store.blobs
    where path != first && replicas[1].store.blobs[path] == nil {
      try replicas[1].store.replace(path, bytes, durably: false)
    }
    _ = try member.refresh()
    #expect(member.knownCounters[replicas[2].vault.device] != nil)
    try replicas[1].commit(.newRecord("Mine"))
    #expect(try Set(head(of: 1).segments).isDisjoint(with: shared))
    try expectFreshIsLive(1)
  }

  @Test func twoDevicesGoOnFromEachOther() throws {
    for (writer, other) in [(0, 1), (1, 0), (0, 1)] {
      _ = try replicas[writer].member.commit((0..<600).map { .newRecord("Later \($0)") })
      try replicas[writer].member.commitCheckpoint()
      try replicas.carry(from: writer, to: other)
      try replicas[other].commit(.newRecord("Of the other one"))
      #expect(try head(of: other).checkpoint == head(of: writer).checkpoint)
      for device in [0, 1, 0, 1] {
        _ = try replicas[device].vault.collect(keepDays: 0, isDryRun: false)
        try replicas.carry(from: device, to: 1 - device)
      }
    }
    try replicas.everyoneMeets()
    for device in 0..<3 {
      #expect(try replicas[device].contents() == replicas[0].contents())
      try expectFreshIsLive(device)
    }
  }
}
