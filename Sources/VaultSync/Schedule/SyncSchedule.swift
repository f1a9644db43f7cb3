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
  /// For so long after its last use a mount counts as used.
  package static let useTime = Duration.seconds(180)

  /// What is due.
  package enum Task: Hashable, Sendable {
    /// To see, with few requests, whether the remote has anything new.
    case glance
    case sync
  }

  /// Monotonic.
  package typealias Time = ContinuousClock.Instant

  private let interval: Duration
  private var periodic: Time
  private var localSince: Time?
  private var localLast: Time?
  private var remoteSince: Time?
  private var failureCount = 0
  private var notBefore: Time?
  private var lastLook: Time
  private var lastUse: Time?

  /// A schedule whose first sync is due at once.
  ///
  /// - Parameter interval: How long after a sync the remote is looked at again when nothing happens.
  package init(now: Time, interval: Duration) {
    self.interval = interval
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

  /// The network came back: what failed before is tried again at once.
  package mutating func retryNow(at now: Time) {
    guard notBefore != nil else { return }
    notBefore = nil
    periodic = min(periodic, now)
  }

  /// Somebody uses what is synced.
  package mutating func used(at now: Time) { lastUse = now }

  /// When something is due next.
  package var next: Time { min(nextSync, nextGlance ?? nextSync) }

  /// What is due now; nil for nothing.
  package func task(at now: Time) -> Task? {
    if nextSync <= now { return .sync }
    return nextGlance.map { $0 <= now } ?? false ? .glance : nil
  }

  /// Nil while nobody uses the mount, or the remote does not answer: then the next sync is early enough.
  private var nextGlance: Time? {
    guard let lastUse, notBefore == nil else { return nil }
    let due = lastLook + Self.glanceInterval
    return lastUse + Self.useTime >= due ? due : nil
  }

  private var nextSync: Time {
    var due = periodic
    if let localSince, let localLast {
      due = min(due, localLast + Self.localQuiet, localSince + Self.longestWait)
    }
    if let remoteSince { due = min(due, remoteSince + Self.remoteQuiet) }
    return notBefore.map { max(due, $0) } ?? due
  }

  /// The remote was glanced at.
  ///
  /// - Parameter hasNews: A sync is worth its cost, also to find out why the remote did not answer.
  package mutating func glanced(at now: Time, hasNews: Bool) {
    lastLook = now
    if hasNews { periodic = min(periodic, now) }
  }

  /// A sync begins: what was told until now is what it is about.
  package mutating func begin() { (localSince, localLast, remoteSince) = (nil, nil, nil) }

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
