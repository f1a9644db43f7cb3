/// Decides when a remote is synced next. A value: told of events and times, it says when; it looks at no clock.
package struct SyncSchedule: Sendable {
  /// How long things must have been quiet here before what was written is sent: several saves go at once.
  package static let localQuiet = Duration.seconds(5)
  /// Writing that never pauses is sent after this long all the same.
  package static let longestWait = Duration.seconds(30)
  /// How long after a change on the remote it is looked at: a device puts several files.
  package static let remoteQuiet = Duration.milliseconds(500)
  /// The first wait after a failure; it doubles with each that follows.
  package static let firstRetry = Duration.seconds(10)
  package static let longestRetry = Duration.seconds(900)
  /// How often a remote is glanced at while the mount is used.
  package static let glanceInterval = Duration.seconds(30)
  /// How often while nobody uses it: what others have put there is told on the desktop within a minute.
  package static let idleGlanceInterval = Duration.seconds(55)
  /// With a doorbell, whoever waits elsewhere is to see within seconds what was saved here.
  package static let localQuietWithDoorbell = Duration.seconds(2)
  /// How long after a look the remote is looked at again because the doorbell rings; it doubles with each time that this
  /// was in vain, for anyone can ring who runs the doorbell or had a member's keys.
  package static let firstRingWait = Duration.seconds(1)
  package static let longestRingWait = Duration.seconds(60)
  /// For so long after its last use a mount counts as used.
  package static let useTime = Duration.seconds(180)

  /// What is due.
  package enum Task: Hashable, Sendable {
    /// To see, with few requests, whether the remote has anything new.
    case glance
    /// To see whether it has anything new of any member, since the doorbell rang.
    case wideGlance
    case sync
  }

  /// Monotonic.
  package typealias Time = ContinuousClock.Instant

  private let interval: Duration
  private let localQuiet: Duration
  private var periodic: Time
  private var localSince: Time?
  private var localLast: Time?
  private var remoteSince: Time?
  private var failureCount = 0
  private var notBefore: Time?
  private var lastLook: Time
  private var lastUse: Time?
  private var rungSince: Time?
  private var vainRingCount = 0
  /// When the remote was last looked at because of it.
  private var lastRing: Time?

  /// A schedule whose first sync is due at once.
  ///
  /// - Parameters:
  ///   - interval: How long after a sync the remote is looked at again when nothing happens.
  ///   - localQuiet: How long things must have been quiet here before what was written is sent.
  package init(now: Time, interval: Duration, localQuiet: Duration = Self.localQuiet) {
    self.interval = interval
    self.localQuiet = localQuiet
    periodic = now
    lastLook = now
  }

  /// Something was committed here.
  package mutating func localChanged(at now: Time) {
    localSince = localSince ?? now
    localLast = now
  }

  /// Something changed on the remote.
  package mutating func remoteChanged(at now: Time) { remoteSince = remoteSince ?? now }

  /// The doorbell rang, or may have rung unheard.
  package mutating func rang(at now: Time) {
    if let lastRing, now - lastRing > Self.longestRingWait * 2 { vainRingCount = 0 }
    rungSince = rungSince ?? now
  }

  /// The network came back: what failed before is tried again at once.
  package mutating func retryNow(at now: Time) {
    guard notBefore != nil else { return }
    notBefore = nil
    periodic = min(periodic, now)
  }

  /// Somebody uses what is synced.
  package mutating func used(at now: Time) { lastUse = now }

  /// When something is due next.
  package var next: Time {
    [nextSync, nextGlance, nextWideGlance].compactMap(\.self).min() ?? nextSync
  }

  /// What is due now; nil for nothing.
  package func task(at now: Time) -> Task? {
    func isDue(_ time: Time?) -> Bool { time.map { $0 <= now } ?? false }
    if isDue(nextSync) { return .sync }
    if isDue(nextWideGlance) { return .wideGlance }
    return isDue(nextGlance) ? .glance : nil
  }

  /// Nil while the doorbell has not rung, or the remote does not answer.
  private var nextWideGlance: Time? {
    guard let rungSince, notBefore == nil else { return nil }
    let wait = min(Self.firstRingWait * (1 << min(vainRingCount, 20)), Self.longestRingWait)
    return vainRingCount == 0 ? rungSince : max(rungSince, lastLook + wait)
  }

  /// Nil while the remote does not answer: then the next sync is early enough.
  private var nextGlance: Time? {
    guard notBefore == nil else { return nil }
    let due = lastLook + Self.glanceInterval
    if let lastUse, lastUse + Self.useTime >= due { return due }
    return lastLook + Self.idleGlanceInterval
  }

  private var nextSync: Time {
    var due = periodic
    if let localSince, let localLast {
      due = min(due, localLast + localQuiet, localSince + Self.longestWait)
    }
    if let remoteSince { due = min(due, remoteSince + Self.remoteQuiet) }
    return notBefore.map { max(due, $0) } ?? due
  }

  /// The remote was glanced at.
  ///
  /// - Parameters:
  ///   - hasNews: A sync is worth its cost, also to find out why the remote did not answer.
  ///   - isWide: Whether all members were seen.
  package mutating func glanced(at now: Time, hasNews: Bool, isWide: Bool = false) {
    lastLook = now
    if isWide {
      rungSince = nil
      vainRingCount = hasNews ? 0 : vainRingCount + 1
      lastRing = now
    }
    if hasNews { periodic = min(periodic, now) }
  }

  /// A sync begins: what was told until now is what it is about.
  package mutating func begin() {
    (localSince, localLast, remoteSince, rungSince) = (nil, nil, nil, nil)
  }

  /// The sync that began last has ended.
  ///
  /// - Parameter isFailure: The remote could not be reached, or refused.
  package mutating func end(at now: Time, isFailure: Bool) {
    periodic = now + interval
    lastLook = now
    guard isFailure else {
      failureCount = 0
      notBefore = nil
      return
    }
    failureCount += 1
    let factor = 1 << min(failureCount - 1, 20)
    let wait = min(Self.firstRetry * factor, Self.longestRetry)
    notBefore = now + wait
    periodic = min(periodic, now + wait)
  }
}
