/// What fails now and has not succeeded since, and when there is something to say of it.
///
/// A failure is told when it begins; while it goes on, after a minute, then after two, four, and so on to an hour.
struct StandingFailures: Sendable {
  struct Key: Hashable, Sendable {
    var work: BackgroundWork
    var subject: LogIdentity?
  }

  struct Failure: Hashable, Sendable {
    var kind: ErrorKind
    /// Milliseconds since 1970.
    var first: UInt64
    var last: UInt64
    var count: UInt64
  }

  /// What to do about a failure that was noted.
  struct Answer: Hashable, Sendable {
    var failure: Failure
    /// A line in the log is due.
    var isTold: Bool
    /// The state is to know of it.
    var isKept: Bool
  }

  private struct Entry {
    var failure: Failure
    var lastKept: UInt64
    // By kind: where two take turns neither is new.
    var told: [ErrorKind: (at: UInt64, pause: UInt64)] = [:]
  }

  private static let firstPause: UInt64 = 60_000
  private static let longestPause: UInt64 = 3_600_000
  static let keepPause: UInt64 = 10_000

  private var entries: [Key: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  subscript(key: Key) -> Failure? { entries[key]?.failure }

  mutating func note(_ kind: ErrorKind, of key: Key, at now: UInt64) -> Answer {
    let known = entries[key]
    var entry =
      known ?? Entry(failure: Failure(kind: kind, first: now, last: now, count: 0), lastKept: now)
    entry.failure.kind = kind
    entry.failure.last = now
    entry.failure.count += 1
    let told = entry.told[kind]
    // A clock that was put back must not silence anything.
    let isTold = told.map { now < $0.at || now - $0.at >= $0.pause } ?? true
    if isTold {
      let pause = told.map { min($0.pause * 2, Self.longestPause) } ?? Self.firstPause
      entry.told[kind] = (now, pause)
    }
    let isKept =
      known == nil || isTold || now < entry.lastKept || now - entry.lastKept >= Self.keepPause
    if isKept { entry.lastKept = now }
    entries[key] = entry
    return Answer(failure: entry.failure, isTold: isTold, isKept: isKept)
  }

  /// - Returns: What is over now; nil if it was not failing.
  mutating func end(_ key: Key) -> Failure? { entries.removeValue(forKey: key)?.failure }
}
