import MachineState
import Vault
import VaultModel

/// Points in time as text: local for people, UTC for programs.
enum DateText {
  /// `2025-01-20 14:03` in the time zone of this machine.
  static func local(milliseconds: UInt64) -> String {
    let text = LocalTimeText.of(milliseconds: milliseconds)
    return "\(text.day) \(text.time)"
  }

  /// `2025-01-20T13:03:07.512Z`, RFC 3339.
  static func utc(milliseconds: UInt64) -> String {
    let time = CivilTime(milliseconds: milliseconds)
    let thousandths = String(milliseconds % 1000 + 1000).dropFirst()
    return "\(time.date)T\(two(time.hour)):\(two(time.minute)):\(two(time.second))"
      + ".\(thousandths)Z"
  }

  /// When something was written, for people; a time ahead of this machine's clock is shown as one.
  static func written(milliseconds: UInt64, clock: WallClock = .system) -> String {
    let text = local(milliseconds: milliseconds)
    return clock.believes(HybridTime(milliseconds: milliseconds))
      ? text : "dated \(text), by a clock that was ahead"
  }

  /// `2 min 30 s`, `3 days`.
  static func duration(seconds: Int) -> String {
    switch seconds {
    case ..<0: "0 s"
    case ..<60: "\(seconds) s"
    case ..<3600:
      seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds / 60) min \(seconds % 60) s"
    case ..<172_800: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    default: "\(seconds / 86_400) days"
    }
  }

  private static func two(_ number: some BinaryInteger) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
