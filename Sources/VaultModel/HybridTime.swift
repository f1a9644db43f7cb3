/// A hybrid logical time: milliseconds since 1970 in the upper 48 bits, a counter in the lower 16.
///
/// `Docs/Format.md` section 1. It orders writes of devices whose clocks agree roughly, and never
/// runs backwards on one device.
package struct HybridTime: Hashable, Comparable, Sendable, BitwiseCopyable {
  package let rawValue: UInt64

  package static let zero = HybridTime(rawValue: 0)
  /// The last one in the year 9999. What is later is no time, and nobody reads it.
  package static let last = HybridTime(milliseconds: Limits.time, counter: .max)

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The time at this many milliseconds since 1970, or at the end of the year 9999.
  package init(milliseconds: UInt64, counter: UInt16 = 0) {
    rawValue = min(milliseconds, Limits.time) << 16 | UInt64(counter)
  }

  package var milliseconds: UInt64 { rawValue >> 16 }

  /// The time of the next write when the clock says `milliseconds` since 1970: later than `self`,
  /// even when the clock went backwards. The last time has no next and stays.
  package func next(now milliseconds: UInt64) -> HybridTime {
    let following = self < .last ? HybridTime(rawValue: rawValue + 1) : .last
    return max(HybridTime(milliseconds: milliseconds), following)
  }

  package static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue < rhs.rawValue }
}
