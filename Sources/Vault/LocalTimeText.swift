import Glibc

/// Points in time in the time zone of this machine.
package enum LocalTimeText {
  /// `2025-01-20` and `14:03`.
  package static func of(milliseconds: UInt64) -> (day: String, time: String) {
    var seconds = time_t(clamping: milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return (
      "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))",
      "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2))"
    )
  }

  /// Today's date here, `2025-01-20`.
  package static func today() -> String { of(milliseconds: UInt64(max(0, time(nil))) * 1000).day }

  private static func padded(_ number: some BinaryInteger, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
