import VaultModel

/// The clock of this machine is further ahead of all that the machine knows of a vault than a vault is commonly left alone.
package struct ClockLeap: Hashable, Sendable {
  /// When the machine last saw something of the vault before that, in milliseconds since 1970.
  package let seen: UInt64
  /// What the clock says, in milliseconds since 1970.
  package let now: UInt64

  /// From so many milliseconds on it is one.
  package static let length = 30 * CivilTime.dayMilliseconds

  /// Nil where the clock is not so far after what was seen.
  package init?(from seen: UInt64, to now: UInt64) {
    guard now > seen, now - seen > Self.length else { return nil }
    self.seen = seen
    self.now = now
  }
}
