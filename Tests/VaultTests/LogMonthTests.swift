import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault

/// Old segments of the log become one a month, and nobody loses what they were told.
@Suite struct LogMonthTests {
  private let adults: Adults
  private var anna: Adults.Adult { adults.anna }
  private var ben: Adults.Adult { adults.ben }

  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .editor)
  }

  private func emma(_ adult: Adults.Adult) throws -> Member { try #require(adult.emma) }

  /// Every third day one event in a segment of its own.
  private func live(_ adult: Adults.Adult, days: Int) throws {
    for day in stride(from: 0, to: days, by: 3) {
      adult.vault.audit.note(
        .export, member: try emma(adult).id, record: .root, detail: "day \(day)")
      adult.vault.audit.note(.read, member: try emma(adult).id, record: .root, detail: "\(day)")
      try adult.write("Day \(day)")
      try adult.vault.audit.flush()
      adult.clock.advance(days: 3)
    }
  }

  private func segments(of adult: Adults.Adult, in folder: Adults.Adult) -> [BlobPath] {
    folder.store.blobs.keys.filter {
      $0.string.hasPrefix("audit/\(adult.vault.device.hex)/")
    }
  }

  private func log(_ adult: Adults.Adult) throws -> [String] {
    let (events, problems) = try adult.vault.audit.read()
    #expect(problems == [])
    return events.map(\.event).filter { !$0.saysNothing }.map { "\($0.action) \($0.detail)" }
      .sorted()
  }

  private func told(to adult: Adults.Adult) throws -> [String] {
    let (events, problems) = try adult.vault.journal(of: emma(adult))
    #expect(problems.filter { $0.severity > .note } == [])
    return events.filter { $0.person == ben.id }.map(\.event.detail).sorted()
  }

  @Test func everyEventIsKeptAndTheChainHolds() throws {
    try live(ben, days: 150)
    try adults.meet()
    let (before, journal) = (try log(ben), try told(to: anna))
    let count = segments(of: ben, in: ben).count
    #expect(journal.count == 50)
    let fewer = try ben.vault.audit.joinMonths()
    let left = segments(of: ben, in: ben).count
    #expect(fewer > 30 && left == count - fewer)
    #expect(try log(ben) == before)
    #expect(try told(to: ben).count == 50)
    // Nothing more is to be joined, and the log goes on.
    #expect(try ben.vault.audit.joinMonths() == 0)
    ben.clock.advance(days: 40)
    try live(ben, days: 40)
    #expect(try ben.vault.audit.joinMonths() > 0)
    #expect(try Set(log(ben)).isSuperset(of: before))
    let problems = try ben.vault.check(readsData: false).problems.filter { $0.severity > .note }
    #expect(problems == [])
  }

  @Test func othersRemoveWhatWasJoinedAndReadTheSame() throws {
    try live(ben, days: 150)
    try adults.meet()
    let journal = try told(to: anna)
    _ = try ben.vault.audit.joinMonths()
    try adults.meet()
    // Both are there, and each event is told once.
    #expect(try told(to: anna) == journal)
    #expect(try anna.vault.removeReplacedSegments() == [])
    #expect(try told(to: anna) == journal)
    // A program that copies files has brought them back to Ben.
    #expect(try ben.vault.removeReplacedSegments() == [])
    let (hers, his) = (segments(of: ben, in: anna), segments(of: ben, in: ben))
    #expect(Set(hers) == Set(his) && hers.count < 25)
  }

  /// Ben's program joins a month and leaves out what he exported.
  @Test func whoHasSeenItKeepsWhatAProgramLeavesOut() throws {
    try live(ben, days: 150)
    try adults.meet()
    let journal = try told(to: anna)
    _ = try ben.vault.audit.joinMonths()
    var months: [BlobPath] = []
    for path in segments(of: ben, in: ben) {
      let file = try SignedFile(decoding: #require(ben.store.blobs[path]))
      if try AuditSegmentBody(decoding: file.body).replaces.count > 5 { months.append(path) }
    }
    let month = try #require(months.first)
    let parsed = try #require(VaultPath(parsing: month.string))
    var body = try AuditSegmentBody(
      decoding: SignedFile(decoding: #require(ben.store.blobs[month])).body)
    #expect(!body.replaces.isEmpty)
    body.slots = body.slots.map { slot in
      JournalSlot(
        tag: .random(), sealed: .nothing(like: 1024), first: slot.first,
        position: slot.position)
    }
    let forged = ben.vault.context.signedFiles.sign(
      body.encoded(), .audit, parsed, with: ben.vault.context.device)
    try ben.store.replace(month, forged, durably: true)
    #expect(try told(to: ben).count < journal.count)
    try adults.meet()
    let problems = try anna.vault.removeReplacedSegments()
    #expect(problems.contains { $0.path == month.string && $0.kind == .missing })
    #expect(try told(to: anna) == journal)
    // Whoever has no key cannot tell, and goes by what is signed.
    #expect(try adults.carla.vault.removeReplacedSegments() == [])
  }

  /// Whoever has stolen a device puts an empty segment in the place of what was done on it, and takes all slots along.
  @Test func aStolenDeviceIsNotForgotten() throws {
    let replicas = try Replicas(count: 2)
    let (desk, phone) = (replicas[0], replicas[1])
    let context = phone.vault.context
    phone.vault.audit.note(.export, member: try phone.member.id, record: .root, detail: "all")
    try phone.commit(.newRecord("Visit"))
    try phone.vault.audit.flush()
    let first = try #require(phone.vault.audit.segments(of: phone.vault.device).last)
    let old = BlobPath(VaultPath.auditSegment(phone.vault.device, first: first).string)
    let bytes = try #require(phone.store.blobs[old])
    var body = try AuditSegmentBody(decoding: SignedFile(decoding: bytes).body)
    let new = VaultPath.auditSegment(phone.vault.device, first: first + 1)
    let nothing = SegmentPacking([AuditEvent.sayingNothing(at: 1)], journals: Journals()).padded
    body.first = first + 1
    body.sealed = context.signedFiles.seal(
      nothing.encoded(), with: context.keys.auditKey, .audit, new, counter: first + 1)
    for number in body.slots.indices {
      (body.slots[number].first, body.slots[number].position) = (first, UInt32(number))
    }
    body.replaces = [ReplacedSegment(first: first, hash: Digest.sha256(bytes))]
    let file = context.signedFiles.sign(body.encoded(), .audit, new, with: context.device)
    try phone.store.replace(BlobPath(new.string), file, durably: true)
    try Replicas.carry(from: phone.store, to: desk.store)
    try desk.vault.context.reloadPeople()
    let told = try desk.vault.removeReplacedSegments()
    #expect(told.map(\.path) == [new.string])
    #expect(told.allSatisfy { $0.reason.contains("written in the last days") })
    #expect(desk.store.blobs[old] != nil)
    // Its person may choose to keep no more than that.
    desk.clock.advance(days: 30)
    #expect(try desk.vault.removeReplacedSegments() == [])
    #expect(desk.store.blobs[old] == nil)
  }

  @Test func whatIsNotToBeKeptGoesButForTheJournal() throws {
    try live(ben, days: 150)
    try adults.meet()
    let journal = try told(to: anna)
    let limit = ben.clock.wallClock.milliseconds() - 60 * CivilTime.dayMilliseconds
    _ = try ben.vault.audit.joinMonths()
    _ = try ben.vault.audit.joinMonths(keepingFrom: limit)
    let (events, problems) = try ben.vault.audit.read()
    #expect(problems == [])
    #expect(events.allSatisfy { $0.event.time >= limit || $0.event.saysNothing })
    #expect(events.contains { $0.event.action == "export" })
    #expect(try told(to: ben) == journal)
    try adults.meet()
    #expect(try anna.vault.removeReplacedSegments() == [])
    #expect(try told(to: anna) == journal)
  }

  /// Sizes say how much there was, to a power of two, and not how much of it others may read.
  @Test func whatOthersReadDoesNotShowInTheSize() throws {
    try live(ben, days: 150)
    _ = try ben.vault.audit.joinMonths()
    for path in segments(of: ben, in: ben) {
      let body = try AuditSegmentBody(
        decoding: SignedFile(decoding: #require(ben.store.blobs[path])).body)
      let sealed = body.sealed.ciphertext.count - 16
      #expect(sealed & (sealed - 1) == 0 && sealed >= 8192)
      #expect(body.slots.count & (body.slots.count - 1) == 0 && body.slots.count >= 4)
      #expect(body.replaces.isEmpty || body.slots.allSatisfy { $0.first > 0 })
    }
  }
}
