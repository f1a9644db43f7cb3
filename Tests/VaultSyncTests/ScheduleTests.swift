import Testing
import VaultSync

struct ScheduleTests {
  private let start = ContinuousClock.now

  private func synced(interval: Duration = .seconds(300)) -> SyncSchedule {
    var schedule = SyncSchedule(now: start, interval: interval)
    schedule.begin()
    schedule.end(at: start, isFailure: false)
    return schedule
  }

  @Test func beginsAtOnceAndThenWaitsItsInterval() {
    #expect(SyncSchedule(now: start, interval: .seconds(300)).next == start)
    #expect(synced().nextTask == .glance)
    var schedule = synced()
    while schedule.nextTask == .glance { schedule.glanced(at: schedule.next, hasNews: false) }
    #expect(schedule.next == start + .seconds(300) && schedule.nextTask == .sync)
  }

  @Test func sendsEditsWhenTheyPauseAndNotLaterThanHalfAMinute() {
    var schedule = synced()
    schedule.localChanged(at: start + .seconds(10))
    schedule.localChanged(at: start + .seconds(12))
    #expect(schedule.next == start + .seconds(17))
    for second in 13...60 { schedule.localChanged(at: start + .seconds(second)) }
    #expect(schedule.next == start + .seconds(40))
    schedule.begin()
    schedule.end(at: start + .seconds(41), isFailure: false)
    #expect(schedule.next == start + .seconds(41 + 55))
  }

  @Test func glancesEveryHalfMinuteWhileTheMountIsUsed() {
    var schedule = synced()
    schedule.used(at: start + .seconds(1))
    #expect(schedule.next == start + .seconds(30))
    #expect(schedule.task(at: start + .seconds(29)) == nil)
    #expect(schedule.task(at: start + .seconds(30)) == .glance)
    schedule.glanced(at: start + .seconds(30), hasNews: false)
    #expect(schedule.next == start + .seconds(60))
    schedule.glanced(at: start + .seconds(60), hasNews: true)
    #expect(schedule.task(at: start + .seconds(60)) == .sync)
  }

  @Test func looksAtEveryMemberAtOnceWhenTheDoorbellRings() {
    var schedule = synced()
    // Also while nobody uses the mount.
    schedule.rang(at: start + .seconds(100))
    #expect(schedule.task(at: start + .seconds(100)) == .wideGlance)
    schedule.glanced(at: start + .seconds(100), hasNews: true, isWide: true)
    #expect(schedule.task(at: start + .seconds(100)) == .sync)
    schedule.begin()
    schedule.end(at: start + .seconds(101), isFailure: false)
    #expect(schedule.next == start + .seconds(101 + 55))
    // What it said is in the sync that begins.
    schedule.rang(at: start + .seconds(110))
    schedule.begin()
    schedule.end(at: start + .seconds(111), isFailure: false)
    #expect(schedule.next == start + .seconds(111 + 55))
  }

  @Test func looksSeldomerTheOftenerTheDoorbellRingsInVain() {
    var schedule = synced(interval: .seconds(10_000))
    var looks = 0
    // A hundred times a second, for ten minutes of looks that take no time.
    for step in 0..<60_000 {
      let now = start + .seconds(100) + .milliseconds(step * 10)
      schedule.rang(at: now)
      while schedule.task(at: now) == .wideGlance {
        looks += 1
        schedule.glanced(at: now, hasNews: false, isWide: true)
      }
    }
    // At once, after 2, 4, …, 32 seconds, then once a minute.
    #expect(looks == 14)
    // Quiet for a while, it is believed again.
    let later = start + .seconds(900)
    schedule.rang(at: later)
    #expect(schedule.task(at: later) == .wideGlance)
  }

  @Test func aDoorbellDoesNotHaveARemoteAskedThatDoesNotAnswer() {
    var schedule = synced()
    schedule.begin()
    schedule.end(at: start, isFailure: true)
    schedule.rang(at: start + .seconds(1))
    #expect(schedule.next == start + .seconds(10))
  }

  /// The desktop is to tell within a minute what others have put there, also where nobody looks.
  @Test func looksSeldomerWhileNobodyUsesTheMountAndAtOnceWhenSomebodyDoesAgain() {
    var schedule = synced()
    schedule.used(at: start)
    var glances: [Duration] = []
    while schedule.nextTask == .glance {
      glances.append(schedule.next - start)
      schedule.glanced(at: schedule.next, hasNews: false)
    }
    #expect(glances == [30, 60, 90, 120, 150, 180, 235, 290].map { .seconds($0) })
    #expect(schedule.next == start + .seconds(300))
    schedule = synced()
    schedule.used(at: start + .seconds(40))
    #expect(schedule.task(at: start + .seconds(40)) == .glance)
  }

  @Test func doesNotGlanceAtARemoteThatDoesNotAnswer() {
    var schedule = synced()
    schedule.used(at: start)
    schedule.begin()
    schedule.end(at: start, isFailure: true)
    #expect(schedule.task(at: start + .seconds(9)) == nil)
    #expect(schedule.task(at: start + .seconds(10)) == .sync)
  }

  @Test func whatHappensDuringASyncCausesAnother() {
    var schedule = synced()
    schedule.begin()
    schedule.remoteChanged(at: start + .seconds(1))
    schedule.end(at: start + .seconds(2), isFailure: false)
    #expect(schedule.next == start + .milliseconds(1500))
  }

  @Test func failuresWaitLongerAndLongerUntilTheNetworkReturns() {
    var schedule = synced()
    var now = start
    var waits: [Duration] = []
    for _ in 0..<9 {
      schedule.begin()
      schedule.end(at: now, isFailure: true)
      waits.append(schedule.next - now)
      now = schedule.next
    }
    #expect(waits.prefix(4) == [.seconds(10), .seconds(20), .seconds(40), .seconds(80)])
    #expect(waits.last == .seconds(300) || waits.last == .seconds(900))
    // An edit does not try again before its time.
    schedule.localChanged(at: now - .seconds(100))
    #expect(schedule.next == now)
    schedule.begin()
    schedule.end(at: now, isFailure: true)
    schedule.retryNow(at: now + .seconds(1))
    #expect(schedule.next == now + .seconds(1))
  }
}

extension SyncSchedule {
  /// What is due when something is due next.
  fileprivate var nextTask: Task? { task(at: next) }
}
