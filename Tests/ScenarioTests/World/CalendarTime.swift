import VaultModel

/// A time of day as scenarios write it, `2026-03-01 09:30` in UTC.
struct CalendarTime {
  /// Since 1970.
  let milliseconds: UInt64

  init?(_ text: String) {
    let parts = text.split { "- :".contains($0) }.compactMap { UInt64($0) }
    guard parts.count == 5 || parts.count == 6, parts[0] >= 1970, (1...12).contains(parts[1])
    else { return nil }
    // The days are found by trying, with the product's own calendar the other way round.
    var days: UInt64 = (parts[0] - 1970) * 365
    while true {
      let civil = CivilTime(milliseconds: days * 86_400_000)
      if (civil.year, civil.month, civil.day) == (Int(parts[0]), Int(parts[1]), Int(parts[2])) {
        break
      }
      guard civil.year <= Int(parts[0]) else { return nil }
      days += 1
    }
    let seconds = parts.count == 6 ? parts[5] : 0
    milliseconds = (days * 86_400 + parts[3] * 3600 + parts[4] * 60 + seconds) * 1000
  }
}
