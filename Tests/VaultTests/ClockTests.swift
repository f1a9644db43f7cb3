import BlobStore
import MachineState
import TestSupport
import Testing
import VaultModel
import VaultObjects

@testable import Vault

/// A clock that was ahead for a moment leaves nothing behind but the dates of what was written then.
struct ClockTests {
  private func time(_ replica: Replicas.Replica, _ record: RecordID) throws -> UInt64 {
    try #require(try replica.member.entry(record)).time.milliseconds
  }

  private func now(_ replica: Replicas.Replica) -> UInt64 { replica.clock.wallClock.milliseconds() }

  private func delete(_ record: RecordID) -> RecordEdit {
    RecordEdit(
      record: record,
      place: RecordPlace(parent: .root, title: FileName("Visit") ?? .record, isDeleted: true))
  }

  @Test func onlyWhatWasWrittenThenIsDatedAhead() throws {
    let replica = try Replicas(count: 1)[0]
    let visit = RecordEdit.newRecord("Visit", note: "from the future")
    replica.clock.advance(days: 3650)
    try replica.commit(visit)
    replica.clock.goBack(days: 3650)
    let other = RecordEdit.newRecord("Other", note: "now")
    try replica.commit(other)
    #expect(try time(replica, other.record) <= now(replica))
    // The same record goes on after what it holds, so that nothing newer loses against it.
    let before = try time(replica, visit.record)
    try replica.commit(RecordEdit(record: visit.record, items: [.record: .note("now")]))
    #expect(try time(replica, visit.record) >= before)
    #expect(
      try replica.member.bytes(of: "record.md", in: visit.record) == Array("now".utf8))
  }

  @Test func aTimeAtTheEndOfTimeFreezesNoOtherRecord() throws {
    let replicas = try Replicas(count: 2)
    let visit = RecordEdit.newRecord("Visit", note: "at the end of time")
    replicas[1].clock.advance(days: 3_200_000_000)
    try replicas[1].commit(visit)
    try replicas.everyoneMeets()
    let other = RecordEdit.newRecord("Other", note: "now")
    try replicas[0].commit(other)
    #expect(try time(replicas[0], other.record) <= now(replicas[0]))
    try replicas[0].commit(RecordEdit(record: visit.record, items: [.record: .note("now")]))
    try replicas.everyoneMeets()
    for replica in replicas.devices {
      #expect(
        try replica.member.bytes(of: "record.md", in: visit.record) == Array("now".utf8))
    }
  }

  @Test func withoutDaysToKeepEverythingThatIsNotCurrentGoes() throws {
    let replica = try Replicas(count: 1)[0]
    let visit = RecordEdit.newRecord("Visit", note: "then")
    try replica.commit(visit)
    replica.clock.advance(days: 3650)
    try replica.commit(delete(visit.record))
    replica.clock.goBack(days: 3650)
    let before = try replica.member.objects.listed().count
    let report = try replica.vault.collect(keepDays: 0, isDryRun: false)
    #expect(report.objectCount > 0)
    #expect(try replica.member.objects.listed().count < before)
    // There is no other device that could know the record, so not even that it was deleted is kept.
    #expect(try replica.member.entry(visit.record) == nil)
  }

  @Test func whatWasReplacedByADateAheadIsKeptFromWhenThatCame() throws {
    let replica = try Replicas(count: 1)[0]
    let truth = MemoryVault.Clock(now(replica))
    replica.store.keepTimes(truth.wallClock.milliseconds)
    let visit = RecordEdit.newRecord("Visit", note: "then")
    try replica.commit(visit)
    replica.clock.advance(days: 3650)
    try replica.commit(RecordEdit(record: visit.record, items: [.record: .note("ahead")]))
    replica.clock.goBack(days: 3650)
    for (days, versions) in [(UInt64(20), 2), (20, 1)] {
      for clock in [replica.clock, truth] { clock.advance(days: days) }
      _ = try replica.vault.collect(keepDays: 30, isDryRun: false)
      #expect(try replica.member.history(of: visit.record).count == versions)
    }
  }

  /// With a date of long ago an editor, or a machine whose clock was reset, would have everything collected at once that they
  /// replaced or deleted.
  @Test(arguments: [false, true])
  func aDateSetBackHasNothingCollectedBeforeItsTime(isDeletion: Bool) throws {
    let replicas = try Replicas(count: 2)
    let truth = MemoryVault.Clock(now(replicas[0]))
    replicas[0].store.keepTimes(truth.wallClock.milliseconds)
    let visit = RecordEdit.newRecord("Visit", note: "severe allergy")
    try replicas[0].commit(visit)
    try replicas.everyoneMeets()
    for clock in [replicas[0].clock, truth] { clock.advance(days: 400) }
    // The other one's clock still says what it said 400 days ago.
    try replicas[1].commit(
      isDeletion
        ? delete(visit.record) : RecordEdit(record: visit.record, items: [.record: .note("none")]))
    for (days, versions) in [(UInt64(0), 2), (80, 2), (20, 1)] {
      for clock in [replicas[0].clock, truth] { clock.advance(days: days) }
      // What was removed comes back with the next meeting, since the other one removes nothing.
      let counts = try (0..<8).map { _ in
        try replicas.everyoneMeets()
        _ = try replicas[0].vault.collect(keepDays: 90, acceptsClock: true, isDryRun: false)
        let count = try replicas[0].member.history(of: visit.record).count
        try replicas[1].commit(.newRecord("Other", note: "so it has seen what was announced"))
        return count
      }
      #expect(counts.min() == versions)
    }
  }

  // MARK: A clock that jumped ahead

  /// A vault with a record that was replaced once, a year before its clock has a leap.
  private func leapt() throws -> (Replicas.Replica, RecordID) {
    let replica = try Replicas(count: 1)[0]
    let visit = RecordEdit.newRecord("Visit", note: "then")
    try replica.commit(visit)
    try replica.commit(RecordEdit(record: visit.record, items: [.record: .note("now")]))
    #expect(try replica.vault.clockLeap() == nil)
    replica.clock.advance(days: 365)
    // What is written after the leap says nothing of the clock.
    try replica.commit(.newRecord("Other", note: "after the leap"))
    return (replica, visit.record)
  }

  @Test func whatIsToBeKeptOutlivesAClockThatJumpedAhead() throws {
    let (replica, visit) = try leapt()
    let report = try replica.vault.collect(keepDays: 90, isDryRun: false)
    try replica.vault.makeRoom(keepDays: 90)
    #expect(try replica.member.history(of: visit).count == 2)
    #expect(report.objectCount == 0)
    let leap = try #require(report.clockLeap)
    #expect((364...366).contains((leap.now - leap.seen) / 86_400_000))
    // It says what would go, and that it will be asked.
    let tried = try replica.vault.collect(keepDays: 90, isDryRun: true)
    #expect(tried.objectCount > 0 && tried.clockLeap != nil)
    // The clock was right: nobody had used the vault.
    let accepted = try replica.vault.collect(keepDays: 90, acceptsClock: true, isDryRun: false)
    #expect(accepted.objectCount > 0 && accepted.clockLeap == nil)
    #expect(try replica.member.history(of: visit).count == 1)
    #expect(try replica.vault.clockLeap() == nil)
  }

  @Test func aClockThatWasTurnedBackIsAskedAboutNoMore() throws {
    let (replica, visit) = try leapt()
    replica.clock.goBack(days: 365)
    #expect(try replica.vault.clockLeap() == nil)
    #expect(try replica.vault.collect(keepDays: 90, isDryRun: false).clockLeap == nil)
    #expect(try replica.member.history(of: visit).count == 2)
  }

  @Test(arguments: [UInt64(0), 3650])
  func whatOthersWroteShowsThatAClockIsRight(daysAhead: UInt64) throws {
    let replicas = try Replicas(count: 2)
    for replica in replicas.devices { replica.clock.advance(days: 365) }
    // A date that the clock has not reached shows nothing.
    replicas[1].clock.advance(days: daysAhead)
    try replicas[1].commit(.newRecord("Visit", note: "a year later"))
    try replicas.everyoneMeets()
    _ = try replicas[0].member.refresh()
    #expect(try (replicas[0].vault.clockLeap() == nil) == (daysAhead == 0))
  }

  /// What others wrote has shown it once. From then on this machine's own use does, also where they write no more.
  @Test func aClockThatOthersHaveShownToBeRightIsAskedAboutNoMore() throws {
    let replicas = try Replicas(count: 2)
    for replica in replicas.devices { replica.clock.advance(days: 365) }
    try replicas[1].commit(.newRecord("Visit", note: "a year later"))
    try replicas.everyoneMeets()
    _ = try replicas[0].member.refresh()
    for number in 0..<3 {
      try replicas[0].commit(.newRecord("Visit \(number)"))
      replicas[0].clock.advance(days: 20)
    }
    #expect(try replicas[0].vault.clockLeap() == nil)
  }

  /// No opening, commit or sync after a leap hides it; also where nothing was noted before, as by an older program.
  @Test(arguments: [false, true])
  func aLeapIsSeenByTheNextProcess(isNoted: Bool) throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("Visit", note: "then")])
    try vault.close()
    if !isNoted { try memory.stateStore.remove("clock") }
    memory.clock.advance(days: 365)
    for _ in 0..<2 {
      let again = try memory.open()
      #expect(try again.clockLeap() != nil)
      let member = try #require(again.members.first)
      _ = try member.commit([.newRecord("Other", note: "after the leap")])
      try again.close()
    }
  }

  @Test func aVaultThatIsUsedNowAndThenIsNeverAskedAbout() throws {
    let replica = try Replicas(count: 1)[0]
    for number in 0..<20 {
      replica.clock.advance(days: 20)
      try replica.commit(.newRecord("Visit \(number)"))
    }
    #expect(try replica.vault.clockLeap() == nil)
  }
}
