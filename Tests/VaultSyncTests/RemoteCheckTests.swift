import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// Whether a remote holds what it should, and what it can give back.
@Suite struct RemoteCheckTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID

  init() throws {
    family = try Family(count: 1)
    // One commit: a second one would leave the segment of the first, which nothing names.
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[try #require(FileName("scan"))] =
      try .photo("scan", byteCount: 20 << 20, seed: 3, in: family[0].emma)
    try family[0].commit(edit)
    record = edit.record
    try family[0].sync(usb)
  }

  private func check(readsData: Bool) throws -> RemoteCheckReport {
    try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: readsData)
  }

  private var objects: [BlobPath] {
    usb.blobs.keys.filter { $0.string.contains("/objects/") }.sorted { $0.string < $1.string }
  }

  @Test func aWholeRemoteIsWhole() throws {
    let report = try check(readsData: true)
    #expect(report.problems == [])
    #expect(report.isWhole)
    #expect(report.objectCount == objects.count)
    #expect(report.unusedCount == 0)
    #expect(report.readByteCount == report.objectByteCount)
    #expect(report.traffic.putCount == 0)
    // Without the data, nothing of the objects but their list.
    #expect(try check(readsData: false).traffic.readByteCount < 10_000)
  }

  @Test func eachMissingAndDamagedObjectIsNamed() throws {
    for path in objects {
      let good = try #require(usb.blobs[path])
      try usb.remove(path)
      #expect(try check(readsData: false).problems.map(\.path) == [path.string])
      var bad = good
      bad[bad.count / 2] ^= 1
      try usb.put(path, bad)
      #expect(try check(readsData: false).problems == [])
      #expect(try check(readsData: true).problems.map(\.path) == [path.string])
      try usb.put(path, good)
    }
  }

  /// What the disk here does not give needs what nobody looks for there then.
  @Test(arguments: [false, true])
  func nothingIsWholeOfWhichNotAllCouldBeReadHere(isSegment: Bool) throws {
    let disk = UnreadableStore(family[0].store)
    let vault = try family[0].open(on: disk)
    let emma = try #require(vault.members.first)
    let revision = try #require(emma.entry(record)).revision
    let names = isSegment ? emma.openedHeads.flatMap(\.segments) : [revision]
    disk.refuse(Set(names.map { BlobPath(emma.objects.vaultPath(of: $0).string) }))
    let check = RemoteCheck(vault: vault, remote: usb)
    let report = try check.run(readsData: false)
    #expect(!report.isWhole)
    #expect(report.problems.contains { $0.kind == .damagedHere }, "\(report.problems)")
    disk.refuse([])
    #expect(try check.run(readsData: false).isWhole)
  }

  /// Of sizes that a store makes up there is no sum.
  @Test func aRemoteThatListsEndlessObjectsEndsNoCheck() throws {
    let hostile = ListingStore(usb) { folder, entries in
      entries.map { entry in
        let isObject = entry.kind == .blob && folder.string.contains("/objects/")
        return BlobEntry(
          name: entry.name, kind: entry.kind, size: isObject ? .max : entry.size,
          fingerprint: entry.fingerprint)
      }
    }
    let report = try RemoteCheck(vault: family[0].vault, remote: hostile).run(readsData: false)
    #expect(report.problems.count == objects.count)
    #expect(report.problems.allSatisfy { $0.kind == .damagedThere })
  }

  /// A sync and a check say how it is mended, and the repair mends it.
  @Test(arguments: [1, 5000])
  func aDescriptionWithSomethingBehindItIsPutThereAgain(byteCount: Int) throws {
    let whole = usb.blobs
    let description = try #require(whole["vault.json"])
    try usb.put("vault.json", description + [UInt8](repeating: 0, count: byteCount))
    do {
      try family[0].sync(usb)
      Issue.record("it was taken for whole")
    } catch let error as SyncError {
      #expect(error.message.contains("kinvault check --repair --remote usb"), "\(error.message)")
    }
    #expect(throws: SyncError.self) { try check(readsData: false) }
    let report = try RemoteCheck(vault: family[0].vault, remote: usb, repairs: true)
      .run(readsData: false)
    #expect(report.mendedCount == 1)
    #expect(report.problems == [])
    #expect(usb.blobs == whole)
    // Another vault's stays what it is.
    try usb.put("vault.json", VaultDescription(vault: .random()).encoded() + [0])
    #expect(throws: SyncError.self) {
      try RemoteCheck(vault: family[0].vault, remote: usb, repairs: true).run(readsData: false)
    }
  }

  @Test func eachMissingAndDamagedObjectIsPutThereAgain() throws {
    let whole = usb.blobs
    for path in objects {
      for isMissing in [true, false] {
        if isMissing {
          try usb.remove(path)
        } else {
          var bad = try #require(whole[path])
          bad[bad.count / 2] ^= 1
          try usb.put(path, bad)
        }
        let report = try RemoteCheck(vault: family[0].vault, remote: usb, repairs: true)
          .run(readsData: true)
        #expect(report.problems == [])
        #expect(report.mendedCount == 1)
        #expect(usb.blobs == whole)
      }
    }
  }

  @Test func whatIsBrokenOnBothSidesIsNamed() throws {
    for path in objects {
      let good = try #require(usb.blobs[path])
      try usb.remove(path)
      try family[0].store.replace(path, Array(good.dropLast(3)), durably: true)
      let report = try RemoteCheck(vault: family[0].vault, remote: usb, repairs: true)
        .run(readsData: true)
      #expect(report.mendedCount == 0)
      // Nothing below it, which is whole there.
      #expect(report.problems.map(\.path) == [path.string])
      try usb.put(path, good)
      try family[0].store.replace(path, good, durably: true)
      // So that nothing is known from before.
      try family[0].reopen()
    }
  }

  @Test func whatIsNotThereYetIsNoDamage() throws {
    try family[0].edit(record, "v3")
    try family[0].write("New", "x")
    let report = try check(readsData: false)
    #expect(report.problems == [])
    #expect(report.unsyncedRecordCount == 2)
  }

  /// Its own head is late for good: what it has written stands in the heads of those that are left.
  @Test func whatARemovedDeviceWroteIsLookedAtAsWell() throws {
    let family = try Family()
    let usb = MemoryStore()
    try family.meet(at: usb)
    let visit = try family[1].write("Visit", "of a device that is removed")
    try family.meet(at: usb)
    try family[0].vault.beginGeneration(
      removing: [family[1].vault.device], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].sync(usb)
    let emma = try family[0].emma
    func check() throws -> RemoteCheckReport {
      try RemoteCheck(vault: family[0].vault, remote: usb).run(readsData: false)
    }
    #expect(try check().unsyncedRecordCount == 0)
    #expect(try check().isWhole)
    let revision = try #require(emma.entry(visit)).revision
    let path = emma.sealedObjects.vaultPath(of: revision).string
    try usb.remove(BlobPath(path))
    #expect(try check().problems.contains { $0.path == path })
    #expect(try !check().isWhole)
  }

  /// Without its folder, and without its heads.
  @Test(arguments: ["", "heads/"])
  func aMemberThatIsNotThereIsNamed(part: String) throws {
    let emma = try family[0].emma
    let folder = "members/\(emma.id.hex)"
    for path in usb.blobs.keys where path.string.hasPrefix("\(folder)/\(part)") {
      try usb.remove(path)
    }
    let report = try check(readsData: false)
    #expect(report.problems.map(\.path) == [folder])
    #expect(report.unsyncedRecordCount > 0)
    #expect(!report.isWhole)
    try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(try check(readsData: true).isWhole)
  }

  /// The words open a copy of the remote only with these.
  @Test func eachStatementThatIsNotThereIsNamed() throws {
    let statements = usb.blobs.filter { VaultPath(parsing: $0.key.string)?.isStatement ?? false }
    #expect(statements.keys.contains { $0.string.hasPrefix("people/") })
    #expect(statements.keys.contains { $0.string.hasPrefix("members/") })
    for (path, good) in statements {
      try usb.remove(path)
      let report = try check(readsData: false)
      #expect(report.problems.map(\.path) == [path.string])
      #expect(!report.isWhole, "\(path)")
      try usb.put(path, good)
      #expect(try check(readsData: false).isWhole, "\(path)")
    }
    for path in statements.keys { try usb.remove(path) }
    try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(try check(readsData: true).isWhole)
  }

  @Test func everyFileThatIsLostOrDamagedHereComesBack() throws {
    let whole = family[0].store.blobs
    let unused = try family[0].vault.check(readsData: false).unusedCount
    var mendedCount = 0
    for (path, good) in whole where path.string.contains("/objects/") {
      for isLost in [true, false] {
        if isLost {
          try family[0].store.remove(path)
        } else {
          try family[0].store.replace(path, Array(good.dropLast(3)), durably: true)
        }
        try family[0].reopen()
        let report = try RemoteMending(vault: family[0].vault, remote: usb).run(readsData: true)
        // A segment that a newer one replaced is missed by nobody.
        #expect(report.mended.allSatisfy { $0.string == path.string })
        mendedCount += report.mended.count
        try family[0].reopen()
        try family[0].expectWhole("\(path)")
      }
    }
    #expect(mendedCount == 2 * (objects.count - unused))
  }

  /// The segments after it, which do not follow it as it is, are named as well, and are whole.
  @Test(arguments: [0, 1, 2], [false, true])
  func aDamagedSegmentOfALogComesBack(_ number: Int, _ isLost: Bool) throws {
    let (desk, emma) = (family[0], try family[0].emma)
    for title in ["A", "B", "C"] {
      desk.vault.audit.note(.read, member: emma.id, record: try desk.write(title, "x"))
      try desk.vault.audit.flush()
    }
    try desk.sync(usb) { $0.looksEverywhere = true }
    var segments: [(first: UInt64, path: BlobPath)] = []
    for path in desk.store.blobs.keys {
      guard case .auditSegment(_, let first)? = VaultPath(parsing: path.string) else { continue }
      segments.append((first, path))
    }
    segments.sort { $0.first < $1.first }
    try #require(segments.count >= 3)
    let path = segments[number].path
    let good = try #require(desk.store.blobs[path])
    #expect(usb.blobs[path] == good)
    if isLost {
      try desk.store.remove(path)
    } else {
      try desk.store.replace(path, Array(good.prefix(3_000)), durably: true)
    }
    #expect(try desk.vault.check(readsData: false).problems.contains { $0.severity > .note })
    let report = try RemoteMending(vault: desk.vault, remote: usb).run(readsData: false)
    #expect(report.mended.map(\.string) == [path.string])
    #expect(report.problems.filter { $0.severity > .note } == [])
    #expect(desk.store.blobs[path] == good)
    try desk.expectWhole()
    #expect(try RemoteMending(vault: desk.vault, remote: usb).run(readsData: false).mended == [])
  }

  @Test func aLostHeadAndAllObjectsComeBack() throws {
    let contents = try family[0].contents()
    let head = BlobPath(
      VaultPath.head(try family[0].emma.id, family[0].vault.device).string)
    try family[0].store.remove(head)
    for path in objects { try family[0].store.remove(path) }
    try family[0].reopen()
    // The head, then its segments, of which opening the vault names one at a time, then what they name.
    for _ in 0..<8 {
      let report = try RemoteMending(vault: family[0].vault, remote: usb).run(readsData: false)
      try family[0].reopen()
      if report.mended.isEmpty { break }
    }
    #expect(try family[0].contents() == contents)
    try family[0].expectWhole()
  }

  /// The head of a device that was removed since does not hold on the remote either. What comes after it by its path is mended.
  @Test func theDamagedHeadOfARemovedDeviceKeepsNothingFromComingBack() throws {
    let usb = MemoryStore()
    let family = try Family()
    let (desk, laptop) = (family[0], family[1])
    let note = try desk.write("Visit", "first")
    try family.meet(at: usb)
    try laptop.write("Of the laptop", "second")
    try family.meet(at: usb)
    try desk.vault.beginGeneration(removing: [laptop.vault.device], words: Family.words.words)
    try desk.sync(usb)
    let emma = try desk.emma
    let head = BlobPath(VaultPath.head(emma.id, laptop.vault.device).string)
    let revision = try #require(emma.entry(note)).revision
    let lost = BlobPath(emma.objects.vaultPath(of: revision).string)
    try desk.store.replace(head, [1, 2, 3], durably: true)
    try desk.store.remove(lost)
    try desk.reopen()
    let report = try RemoteMending(vault: desk.vault, remote: usb).run(readsData: false)
    #expect(report.mended.map(\.string) == [lost.string])
    #expect(report.problems.contains { $0.path == head.string && $0.kind == .damaged })
    try desk.reopen()
    #expect(try desk.contents().values.contains("first"))
  }
}
