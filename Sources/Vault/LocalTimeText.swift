import Glibc
import VaultModel

/// Points in time in the time zone of this machine.
package enum LocalTimeText {
  /// `2025-01-20` and `14:03`.
  package static func of(milliseconds: UInt64) -> (day: String, time: String) {
    var seconds = time_t(clamping: milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      CivilTime.digits(Int(number), count)
    }
    return (
      "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))",
      "\(digits(parts.tm_hour)):\(digits(parts.tm_min))"
    )
  }

  /// Today's date here, `2025-01-20`.
  package static func today() -> String { of(milliseconds: UInt64(max(0, time(nil))) * 1000).day }
}
