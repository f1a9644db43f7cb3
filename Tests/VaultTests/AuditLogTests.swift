import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault

/// The log of what a device does: what stands where, and what the folder tells of it.
@Suite struct AuditLogTests {
  private let memory: MemoryVault
  private let vault: Vault
  private let emma: Member

  init() throws {
    (memory, vault, emma) = try MemoryVault.withEmma()
    try vault.audit.flush()
  }

  private func write(_ title: String) throws -> RecordID {
    let edit = RecordEdit.newRecord(title, note: "n")
    _ = try emma.commit([edit])
    return edit.record
  }

  private func segments(of vault: MemoryVault) -> [BlobPath: [UInt8]] {
    vault.store.blobs.filter { $0.key.string.hasPrefix("audit/") }
  }

  private func details(_ vault: Vault) throws -> [String] {
    try vault.audit.read().events.map(\.event).filter { $0.action == "read" }.map(\.detail)
  }

  /// All but what belongs to the process alone.
  private func folder() -> [BlobPath: [UInt8]] {
    memory.store.blobs.filter { !$0.key.string.hasPrefix("staging/") }
  }

  // MARK: What a reading leaves

  @Test func readingLeavesTheFolderAsItWas() throws {
    let record = try write("Wrist")
    try vault.audit.flush()
    let before = folder()
    for _ in 0..<100 { vault.audit.note(.read, member: emma.id, record: record) }
    try vault.audit.flush()
    vault.audit.note(.export, member: emma.id, record: record)
    try vault.close()
    #expect(folder() == before)
    let reopened = try memory.open()
    let events = try reopened.audit.read().events.map(\.event)
    #expect(events.first { $0.action == "read" }?.count == 100)
    #expect(events.contains { $0.action == "export" })
  }

  /// A program that walks through a large folder notes more at once than one file may have.
  @Test func tensOfThousandsOfReadingsAtOnceAreKept() throws {
    let count = 12_000
    for _ in 0..<count { vault.audit.note(.read, member: emma.id, record: .random()) }
    try vault.audit.keep()
    let files = memory.stateStore.blobs.filter { $0.key.string.hasPrefix("events/") }
    #expect(files.count > 1 && files.values.allSatisfy { $0.count <= Limits.signedFileBytes })
    let found = try memory.open().audit.read()
    #expect(found.events.count { $0.event.action == "read" } == count)
    #expect(found.problems.isEmpty)
  }

  /// As programs of November 2026 wrote them, all in one.
  @Test func oneLargeFileOfReadingsIsRead() throws {
    let events = (0..<20_000).map { time in
      AuditEvent(
        time: UInt64(time) + 1, action: "read", member: emma.id, record: .random(), name: nil,
        detail: "", count: 1, person: nil)
    }
    let keys = vault.context.keys
    let sealed = keys.auditKey.seal(
      AuditEvents(events: events).encoded(), label: .waiting, path: "events/9", counter: 0)
    let bytes = keys.generation.bytes + sealed.nonce + sealed.ciphertext
    #expect(bytes.count > Limits.signedFileBytes)
    try memory.stateStore.replace("events/9", bytes, durably: true)
    let found = try memory.open().audit.read()
    #expect(found.events.count { $0.event.action == "read" } == events.count)
    #expect(found.problems.isEmpty)
  }

  /// Whatever was read before, a write is followed by files of the same names and sizes.
  @Test func aWriteIsFollowedByTheSameWhateverWasRead() throws {
    var shapes: Set<[String]> = []
    for readCount in [0, 1, 7, 60, 200] {
      let (memory, vault, emma) = try MemoryVault.withEmma()
      let edit = RecordEdit.newRecord("Wrist", note: "n")
      _ = try emma.commit([edit])
      try vault.audit.flush()
      for number in 0..<readCount {
        vault.audit.note(.read, member: emma.id, record: edit.record, detail: "\(number)")
      }
      try vault.audit.flush()
      let before = memory.store.blobs
      var change = RecordEdit(record: edit.record)
      change.items[.record] = .note("m")
      _ = try emma.commit([change])
      try vault.audit.flush()
      let after = memory.store.blobs
      shapes.insert(
        after.filter { path, bytes in
          before[path] != bytes && !path.string.contains("/objects/")
            && !path.string.contains("/heads/")
        }.map { path, bytes in
          let name = path.string.replacing(vault.device.hex, with: "device")
            .replacing(vault.person.hex, with: "person")
          return "\(name) \(bytes.count)"
        }.sorted())
    }
    #expect(shapes.count == 1, "\(shapes)")
    #expect(shapes.first?.count == 2)
  }

  @Test func whatHasNoRoomComesWithLaterWrites() throws {
    let record = try write("Wrist")
    try vault.audit.flush()
    let before = segments(of: memory).count
    for number in 0..<500 {
      vault.audit.note(.read, member: emma.id, record: record, detail: "read \(number)")
    }
    _ = try write("One")
    try vault.audit.flush()
    #expect(segments(of: memory).count == before + 1)
    #expect(try details(vault).count { $0.hasPrefix("read ") } == 500)
    for number in 0..<12 {
      _ = try write("More \(number)")
      try vault.audit.flush()
    }
    #expect(segments(of: memory).count == before + 13)
    #expect(try vault.audit.waiting.files() == [])
    let (events, problems) = try vault.audit.read()
    #expect(problems == [])
    #expect(
      events.map(\.event.detail).filter { $0.hasPrefix("read ") }
        == (0..<500).map { "read \($0)" })
  }

  /// More than anybody reads between two writes: it is not kept back for ever.
  @Test func aFloodIsPublishedAtOnce() throws {
    for number in 0..<5000 { vault.audit.note(.read, member: emma.id, detail: "read \(number)") }
    _ = try write("One")
    try vault.audit.flush()
    #expect(try vault.audit.waiting.files() == [])
    let (events, problems) = try vault.audit.read()
    #expect(problems == [] && events.count > 5000)
    // The first has no hash before it, and numbers grow.
    let sizes = segments(of: memory).values.map(\.count)
    #expect(try #require(sizes.max()) - #require(sizes.min()) <= 40)
  }

  @Test func aTimeForPublishingIsCountedFromTheWriteOnly() throws {
    vault.audit.note(.read, member: emma.id)
    memory.clock.advance(days: 1)
    let before = segments(of: memory).count
    _ = try write("One")
    // The reading has waited long, and is kept; the write is of now.
    try vault.audit.flushIfDue()
    #expect(segments(of: memory).count == before)
    #expect(try vault.audit.waiting.files().count == 1)
    memory.clock.advance(days: 1)
    try vault.audit.flushIfDue()
    #expect(segments(of: memory).count == before + 1)
    #expect(try vault.audit.waiting.files() == [])
  }

  // MARK: Names

  @Test func namesAreThoseOfTheTime() throws {
    let record = try write("Wrist")
    vault.audit.note(.read, member: emma.id, record: record, name: .record)
    try vault.audit.flush()
    _ = try emma.commit([
      RecordEdit(
        record: record,
        place: RecordPlace(parent: .root, title: #require(FileName("Arm")), isDeleted: false))
    ])
    vault.audit.note(.read, member: emma.id, record: record, name: .record)
    try vault.audit.flush()
    let events = try vault.audit.read().events.map(\.event).filter { $0.action == "read" }
    #expect(events.map(\.place) == ["Emma/Wrist/record.md", "Emma/Arm/record.md"])
    #expect(events.allSatisfy { $0.device == "desk" })
  }

  @Test func readsOfARecordAreOneEvent() throws {
    let record = try write("Disc")
    for number in 0..<40 {
      vault.audit.note(
        .read, member: emma.id, record: record, name: FileName("slice \(number)"))
    }
    vault.audit.note(.export, member: emma.id, record: record)
    vault.audit.note(.read, member: emma.id, record: record, name: FileName("slice 3"))
    try vault.audit.flush()
    let reads = try vault.audit.read().events.map(\.event).filter { $0.action == "read" }
    #expect(reads.count == 1)
    #expect(reads.first?.count == 41 && reads.first?.name == nil)
    #expect(reads.first?.place == "Emma/Disc")
  }

  @Test func aFilterTakesWhatFitsAllItSays() throws {
    let record = try write("Wrist")
    vault.audit.note(.read, member: emma.id, record: record, name: .record)
    vault.audit.note(.export, member: emma.id, record: record)
    vault.audit.note(.share, member: emma.id, person: vault.person, detail: "editor")
    vault.audit.note(.export, member: emma.id, record: try write("Röntgen ÄRZTIN ΝΟΣΟΣ"))
    try vault.audit.flush()
    let events = try vault.audit.read().events
    func count(_ change: (inout AuditFilter) -> Void) -> Int {
      var filter = AuditFilter()
      change(&filter)
      return events.count { filter.allows($0) { _ in "Desk" } }
    }
    #expect(count { _ in } == events.count)
    #expect(count { $0.action = "export" } == 2)
    #expect(count { $0.record = (nil, "Emma/Wrist") } == 2)
    #expect(count { $0.record = (record, "Emma/elsewhere") } == 2)
    #expect(count { $0.record = (nil, "Emma/Wris") } == 0)
    #expect(count { $0.person = (vault.person, "") } == 1)
    #expect(count { $0.device = "dEsk" } == events.count)
    #expect(count { $0.device = String(vault.device.hex.prefix(6)) } == events.count)
    #expect(count { $0.device = "phone" } == 0)
    for text in ["WRIST", "wrist", "Emma/wRi", "ist"] {
      #expect(count { $0.text = text } == 2, "\(text)")
    }
    for text in ["röntgen", "RÖNTGEN", "ärztin", "gen ä", "νοσο"] {
      #expect(count { $0.text = text } == 1, "\(text)")
    }
    for text in ["wrists", "knee", "Röntgenarzt"] { #expect(count { $0.text = text } == 0) }
    #expect(count { $0.text = "" } == events.count)
    let time = try #require(events.first { $0.event.action == "export" }).event.time
    #expect(count { $0.since = time } + count { $0.until = time } == events.count)
  }

  /// Segments are read on several threads, and of many events of one time each is given once.
  @Test func whatIsReadOfALongLogIsWhatTheFilterAllows() throws {
    for day in 0..<200 {
      for number in 0..<3 {
        vault.audit.note(.export, member: emma.id, record: .random(), detail: "\(day) \(number)")
      }
      try vault.audit.publish()
      if day.isMultiple(of: 2) { memory.clock.advance(days: 1) }
    }
    let all = try vault.audit.read()
    #expect(all.problems.isEmpty)
    let exports = all.events.map(\.event).filter { $0.action == "export" }
    #expect(exports.map(\.detail) == (0..<200).flatMap { day in (0..<3).map { "\(day) \($0)" } })
    #expect(all.events.map(\.event.time) == all.events.map(\.event.time).sorted())
    #expect(LoggedEvent.once(all.events + all.events.shuffled()).count == all.events.count)
    var filter = AuditFilter()
    filter.text = "17"
    filter.action = "export"
    filter.device = "a device that there is not"
    let found = try vault.audit.read(filter).events.map(\.event)
    #expect(found == exports.filter { $0.detail.contains("17") })
    #expect(found.count > 20)
  }

  // MARK: The end

  /// What an older copy of the log shows, with the register that says where it ends, and without.
  @Test(arguments: [false, true])
  func anEndThatIsCutOffShows(withRegister: Bool) throws {
    for number in 0..<2 {
      _ = try write("Before \(number)")
      try vault.audit.publish()
    }
    let before = memory.store.blobs
    _ = try write("After")
    try vault.audit.publish()
    #expect(try vault.audit.read().problems == [])
    let register = VaultPath.device(vault.person, vault.device).string
    for (path, _) in segments(of: memory) where before[path] == nil {
      try memory.store.remove(path)
    }
    if withRegister {
      let path = BlobPath(register)
      try memory.store.replace(path, #require(before[path]), durably: true)
    }
    let reopened = try memory.open()
    let problems = try reopened.audit.read().problems
    #expect(problems.count == 1)
    #expect(problems.first?.path == (withRegister ? register : "audit/\(vault.device.hex)"))
    #expect(problems.first?.severity == .warning)
    // Going on covers nothing up.
    reopened.audit.note(.read, detail: "later")
    try reopened.audit.publish()
    let after = try memory.open()
    #expect(try after.audit.read().problems.map(\.kind) == [.missing])
    #expect(try details(after).contains("later"))
    #expect(try after.check(readsData: false).problems.map(\.kind) == [.missing])
  }

  /// A person who has put an older folder back is asked once, and the log says so.
  @Test(arguments: [0, 2])
  func anOlderFolderThatIsMeantIsNotedAndNoCut(segmentCount: Int) throws {
    let memory = try MemoryVault()
    var vault = try memory.open()
    for number in 0..<segmentCount {
      vault.audit.note(.read, detail: "before \(number)")
      try vault.audit.publish()
    }
    let before = memory.store.blobs.filter { !$0.key.string.hasPrefix("staging/") }
    for number in 0..<2 {
      vault.audit.note(.read, detail: "after \(number)")
      try vault.audit.publish()
    }
    let used = try vault.audit.segments(of: vault.device)
    let older = MemoryStore()
    for (path, bytes) in before { try older.replace(path, bytes, durably: true) }
    #expect(try !memory.open(on: older).audit.read().problems.isEmpty)
    vault = try memory.open(OpenOptions(acceptRollback: true), on: older)
    try vault.audit.flush()
    #expect(try vault.audit.read().problems == [])
    #expect(try vault.audit.read().events.count { $0.event.action == "acknowledge" } == 1)
    try vault.audit.publish()
    let reopened = try memory.open(OpenOptions(acceptRollback: true), on: older)
    #expect(try reopened.audit.read().problems == [])
    #expect(try reopened.audit.read().events.count { $0.event.action == "acknowledge" } == 1)
    #expect(try reopened.audit.segments(of: vault.device).last ?? 0 > #require(used.last))
  }

  @Test func aMiddleThatIsTakenOutShows() throws {
    for number in 0..<3 {
      vault.audit.note(.read, detail: "\(number)")
      try vault.audit.publish()
    }
    let firsts = try vault.audit.segments(of: vault.device)
    let path = VaultPath.auditSegment(vault.device, first: firsts[firsts.count - 2]).string
    try memory.store.remove(BlobPath(path))
    #expect(try vault.audit.read().problems.map(\.kind) == [.missing])
  }

  /// Each of the files of a publication may be the last one that was written.
  @Test func publishingCutAtAnyCallLosesNothingAndSaysNothingTwice() throws {
    for number in 0..<5 { vault.audit.note(.read, detail: "\(number)") }
    try vault.audit.flush()
    for number in 1... {
      let copy = memory.afterKill()
      let cut = try copy.open()
      copy.store.cut(after: number)
      var isWhole = true
      do throws(VaultError) { try cut.audit.publish() } catch { isWhole = false }
      for left in [copy.afterKill()] + Seeds.first(3).map({ copy.afterPowerCut(seed: $0) }) {
        let reopened = try left.open()
        let (events, problems) = try reopened.audit.read()
        #expect(problems == [], "call \(number)")
        #expect(
          events.map(\.event).filter { $0.action == "read" }.map(\.detail)
            == (0..<5).map { "\($0)" })
        reopened.audit.note(.read, detail: "later")
        try reopened.audit.publish()
        #expect(try reopened.audit.read().problems == [], "call \(number)")
      }
      if isWhole { return }
    }
  }

  @Test func whatTheStateRefusesIsKeptInMemoryAndWrittenLater() throws {
    vault.audit.note(.read, detail: "a")
    memory.stateStore.cut(after: 0)
    #expect(throws: VaultError.self) { try vault.audit.flush() }
  }

  @Test func manySmallFilesBecomeOne() throws {
    for number in 0..<200 {
      vault.audit.note(.read, detail: "\(number)")
      try vault.audit.flush()
    }
    #expect(try vault.audit.waiting.files().count <= 65)
    #expect(try vault.audit.read().problems == [])
    #expect(try details(vault) == (0..<200).map { "\($0)" })
  }

  /// Two processes of one device, each with what it did.
  @Test func twoProcessesKeepOneLog() throws {
    let other = try memory.open()
    for number in 0..<6 {
      let process = number % 2 == 0 ? vault : other
      process.audit.note(.read, detail: "\(number)")
      if number % 3 == 0 { try process.audit.publish() } else { try process.audit.flush() }
    }
    #expect(try other.audit.read().problems == [])
    #expect(try details(other).sorted() == (0..<6).map { "\($0)" })
  }

  @Test func aDamagedRegisterIsNotInTheWay() throws {
    let path = BlobPath(VaultPath.device(vault.person, vault.device).string)
    try memory.store.replace(path, [1], durably: true)
    vault.audit.note(.read, detail: "a")
    try vault.audit.publish()
    vault.audit.note(.read, detail: "b")
    try vault.audit.publish()
    let (events, problems) = try vault.audit.read()
    #expect(events.map(\.event.detail).suffix(2) == ["a", "b"])
    #expect(problems.map(\.kind) == [.rollback])
  }
}
