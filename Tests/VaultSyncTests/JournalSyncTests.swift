import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// What others read of what machines did, by way of a remote.
@Suite struct JournalSyncTests {
  private let remote = MemoryStore()

  private func emma(_ device: Family.Device) throws -> Member {
    try #require(device.vault.members.first)
  }

  private func note(_ text: String, by device: Family.Device) throws {
    device.vault.audit.note(.export, member: try emma(device).id, record: .root, detail: text)
    try device.write(text, text)
    try device.vault.audit.publish()
  }

  private func syncFully(_ device: Family.Device) throws {
    try device.sync(remote) { $0.looksEverywhere = true }
  }

  private func exports(_ device: Family.Device) throws -> [String] {
    let (events, problems) = try device.vault.journal(of: emma(device))
    #expect(problems == [])
    return events.map(\.event).filter { $0.action == "export" }.map(\.detail).sorted()
  }

  /// Both lines have written segments of the log under one name; one of them is written anew by another device.
  @Test func whatBothLinesOfAMachineDidIsRead() throws {
    let family = try Family(count: 2)
    try note("before", by: family[0])
    for device in family.devices { try syncFully(device) }
    let snapshot = family[0].snapshot()
    for number in 0..<3 { try note("lost \(number)", by: family[0]) }
    try syncFully(family[0])
    try family[0].putBack(snapshot)
    try note("new", by: family[0])
    for _ in 0..<2 { for device in family.devices { try syncFully(device) } }
    try note("after", by: family[0])
    for device in family.devices {
      try syncFully(device)
      #expect(try exports(device) == ["after", "before", "lost 0", "lost 1", "lost 2", "new"])
    }
  }

  /// While locked, and where it only puts, a sync takes no logs, though it may be the one that looks everywhere that day.
  @Test(arguments: [false, true])
  func whatOneSyncCannotTakeOfLogsTheNextOneDoes(isLocked: Bool) throws {
    let family = try Family(count: 2)
    let laptop = family[1]
    for device in family.devices { try syncFully(device) }
    try note("news", by: family[0])
    try syncFully(family[0])
    laptop.clock.turn(bySeconds: 2 * 86_400)
    if isLocked {
      try laptop.syncLocked(remote)
    } else {
      try laptop.sync(remote) { $0.direction = .push }
    }
    #expect(try exports(laptop) == [])
    try laptop.sync(remote)
    #expect(try exports(laptop) == ["news"])
  }

  /// Old segments become one a month here, there, and on the other machine; nobody brings them back.
  @Test func joinedMonthsTakeThePlaceOfTheirSegmentsEverywhere() throws {
    let family = try Family(count: 2)
    for number in 0..<40 {
      try note("\(number)", by: family[0])
      for device in family.devices { device.clock.turn(bySeconds: 2 * 86_400) }
    }
    for device in family.devices { try syncFully(device) }
    let before = segments(remote)
    let report = try family[0].vault.collect(keepDays: 90, acceptsClock: true, isDryRun: false)
    #expect(report.joinedSegmentCount > 10)
    for _ in 0..<2 { for device in family.devices { try syncFully(device) } }
    let after = segments(remote)
    #expect(after.count < before.count - 10)
    for device in family.devices {
      #expect(segments(device.store) == after)
      #expect(try exports(device) == (0..<40).map { "\($0)" }.sorted())
      #expect(try device.vault.audit.read().problems == [])
    }
  }

  private func segments(_ store: MemoryStore) -> Set<BlobPath> {
    Set(store.blobs.keys.filter { $0.string.hasPrefix("audit/") })
  }

  /// A family in which one device has lived for a while, and a remote that has its segments. Then it joins months.
  private func joinedMonths(_ remotes: [MemoryStore]) throws -> (Family, joined: Set<BlobPath>) {
    let family = try Family(count: 3)
    for number in 0..<40 {
      try note("\(number)", by: family[0])
      for device in family.devices { device.clock.turn(bySeconds: 2 * 86_400) }
    }
    for (number, remote) in remotes.enumerated() {
      for device in family.devices[0...1] {
        try device.sync(remote, as: "usb\(number)") { $0.looksEverywhere = true }
      }
    }
    let before = segments(family[0].store)
    let report = try family[0].vault.collect(keepDays: 90, acceptsClock: true, isDryRun: false)
    #expect(report.joinedSegmentCount > 10)
    let joined = segments(family[0].store).subtracting(before)
    #expect(!joined.isEmpty)
    return (family, joined)
  }

  /// A device writes months in which the events of others' interest are not, and says that they stand in the place of the
  /// segments that have them.
  @Test func whatLeavesOutEventsTakesThePlaceOfNothing() throws {
    let (usb, other) = (MemoryStore(), MemoryStore())
    let (family, joined) = try joinedMonths([usb])
    let context = family[0].vault.context
    for path in joined {
      var body = try AuditSegmentBody(
        decoding: SignedFile(decoding: #require(family[0].store.blobs[path])).body)
      body.slots = body.slots.map { slot in
        JournalSlot(
          tag: .random(), sealed: .nothing(like: 1024), first: slot.first,
          position: slot.position)
      }
      let parsed = try #require(VaultPath(parsing: path.string))
      let forged = context.signedFiles.sign(body.encoded(), .audit, parsed, with: context.device)
      for store in [usb, family[1].store, family[2].store] { try store.put(path, forged) }
    }
    let before = segments(usb)
    try family[1].sync(usb) { $0.looksEverywhere = true }
    #expect(segments(usb) == before)
    try family[1].sync(other, as: "other") { $0.looksEverywhere = true }
    #expect(segments(other).isSuperset(of: before))
    try family[2].sync(usb) { $0.looksEverywhere = true }
    for device in family.devices[1...] {
      #expect(segments(device.store).isSuperset(of: before))
      #expect(try exports(device) == (0..<40).map { "\($0)" }.sorted())
    }
  }

  /// To a machine whose clock is behind, everything is too recent to be forgotten. It keeps that, and does not put it back for
  /// ever where others remove it again.
  @Test func whoseClockIsBehindStopsPuttingSegmentsBack() throws {
    let usb = MemoryStore()
    let (family, _) = try joinedMonths([usb])
    let (desk, behind) = (family[0], family[1])
    behind.clock.turn(bySeconds: -300 * 86_400)
    // Else it would know that it was used later.
    try behind.stateStore.remove("clock")
    let kept = segments(behind.store)
    func syncBoth() throws -> (Set<BlobPath>, Set<BlobPath>) {
      try desk.sync(usb, as: "usb0") { $0.looksEverywhere = true }
      let before = segments(usb)
      try behind.sync(usb, as: "usb0") { $0.looksEverywhere = true }
      return (before, segments(usb))
    }
    let (before, after) = try syncBoth()
    #expect(after.count > before.count + 10)
    for _ in 0..<32 { _ = try syncBoth() }
    let (settled, later) = try syncBoth()
    #expect(later == settled && settled.intersection(kept).count < kept.count - 10)
    #expect(segments(behind.store).isSuperset(of: kept))
  }

  /// A machine whose battery is empty knows when it was used last.
  @Test func whoseClockWentBackPutsNothingBack() throws {
    let usb = MemoryStore()
    let (family, joined) = try joinedMonths([usb])
    let (desk, behind) = (family[0], family[1])
    try #require(behind.stateStore.blobs["clock"] != nil)
    behind.clock.turn(bySeconds: -300 * 86_400)
    try desk.sync(usb, as: "usb0") { $0.looksEverywhere = true }
    func log(_ store: MemoryStore) -> Set<BlobPath> {
      segments(store).filter { $0.string.hasPrefix("audit/\(desk.vault.device.hex)/") }
    }
    let after = log(usb)
    #expect(after.isSuperset(of: joined))
    for _ in 0..<2 { try behind.sync(usb, as: "usb0") { $0.looksEverywhere = true } }
    #expect(log(usb) == after)
    #expect(log(behind.store) == after)
  }

  /// A month that is torn on a remote stands in the place of nothing there.
  @Test(arguments: [false, true])
  func nothingIsRemovedForAMonthThatIsTornThere(_ repairs: Bool) throws {
    let (usb, other) = (MemoryStore(), MemoryStore())
    let (family, joined) = try joinedMonths([usb, other])
    for device in family.devices[0...1] {
      try device.sync(usb, as: "usb0") { $0.looksEverywhere = true }
    }
    let before = segments(other)
    for path in joined { try other.put(path, Array(#require(usb.blobs[path]).prefix(400))) }
    try family[1].sync(other, as: "usb1") {
      $0.looksEverywhere = true
      $0.repairsRemote = repairs
    }
    if repairs {
      #expect(segments(other) == segments(usb))
      for path in joined { #expect(other.blobs[path] == usb.blobs[path]) }
    } else {
      #expect(segments(other) == before.union(joined))
    }
    #expect(try family[1].sync(usb, as: "usb0").problems == [])
  }

  /// Nobody puts anything in the place of what was seen: a segment that comes is one more.
  @Test func aRemoteThatLosesSegmentsGetsThemBack() throws {
    let family = try Family(count: 2)
    for number in 0..<3 { try note("\(number)", by: family[0]) }
    for device in family.devices { try syncFully(device) }
    for path in remote.blobs.keys where path.string.hasPrefix("audit/") { try remote.remove(path) }
    for device in family.devices { try syncFully(device) }
    #expect(remote.blobs.keys.contains { $0.string.hasPrefix("audit/") })
    for device in family.devices { #expect(try exports(device) == ["0", "1", "2"]) }
  }
}
