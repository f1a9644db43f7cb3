import Glibc
import VaultModel

/// Where the vault takes the time from; a test gives its own.
package struct WallClock: Sendable {
  private let read: @Sendable () -> UInt64

  package init(milliseconds: @escaping @Sendable () -> UInt64) { read = milliseconds }

  /// Milliseconds since 1970, no later than what the format can say. The vault never relies on it being right, only on
  /// `HybridTime`.
  package func milliseconds() -> UInt64 { min(read(), Limits.time) }

  /// This machine's clock; 0 while it stands before 1970.
  package static let system = WallClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec < 0 ? 0 : UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// How far the clocks of two machines may be apart that are taken to be right, in milliseconds.
  private static let tolerance: UInt64 = 600_000

  /// Whether something may have been written at that time: a later one was written by a clock that was ahead, or is
  /// made up.
  package func believes(_ time: HybridTime) -> Bool {
    let now = milliseconds()
    return time.milliseconds <= now + min(Self.tolerance, .max - now)
  }
}
