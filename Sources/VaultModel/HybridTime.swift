/// A hybrid logical time: milliseconds since 1970 in the upper 48 bits, a counter in the lower 16.
///
/// `Docs/Format.md` section 1. It orders writes of devices whose clocks agree roughly, and never
/// runs backwards on one device.
package struct HybridTime: Hashable, Comparable, Sendable, BitwiseCopyable {
  package let rawValue: UInt64

  package static let zero = HybridTime(rawValue: 0)

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The time at this many milliseconds since 1970; more than 48 bits of them count as the most.
  package init(milliseconds: UInt64, counter: UInt16 = 0) {
    rawValue = min(milliseconds, 1 << 48 - 1) << 16 | UInt64(counter)
  }

  package var milliseconds: UInt64 { rawValue >> 16 }

  /// The time of the next write when the clock says `milliseconds` since 1970: later than `self`,
  /// even when the clock went backwards. The very last time has no next and stays.
  package func next(now milliseconds: UInt64) -> HybridTime {
    let following = rawValue == .max ? rawValue : rawValue + 1
    return max(HybridTime(milliseconds: milliseconds), HybridTime(rawValue: following))
  }

  package static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue < rhs.rawValue }
}
