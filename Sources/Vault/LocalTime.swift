import Glibc
import Notes
import VaultModel

/// Times as this machine's clock and time zone have them.
package enum LocalTime {
  /// - Parameter numbers: The year, and as many of month, day, hour and minute as are known, in this order; what is too
  ///   large is carried over (day 32 is in the next month), and what is missing is the least.
  /// - Returns: Milliseconds since 1970, no later than what the format can say: the last day of the year 9999 ends there.
  package static func milliseconds(_ numbers: [Int]) -> UInt64 {
    var parts = tm()
    parts.tm_year = Int32(numbers[0]) - 1900
    parts.tm_mon = numbers.count > 1 ? Int32(numbers[1]) - 1 : 0
    parts.tm_mday = numbers.count > 2 ? Int32(numbers[2]) : 1
    parts.tm_hour = numbers.count > 3 ? Int32(numbers[3]) : 0
    parts.tm_min = numbers.count > 4 ? Int32(numbers[4]) : 0
    parts.tm_isdst = -1
    return min(UInt64(clamping: mktime(&parts)) * 1000, Limits.time)
  }

  /// When the day begins that comes so many days after this one, in milliseconds since 1970.
  ///
  /// - Parameter text: `2026-12-31`.
  /// - Returns: Nil where it is no whole date.
  package static func begin(ofDay text: String, addingDays days: Int = 0) -> UInt64? {
    guard RecordDate.isWritten(text) else { return nil }
    let parts = text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    return milliseconds([parts[0], parts[1], parts[2] + days])
  }
}
