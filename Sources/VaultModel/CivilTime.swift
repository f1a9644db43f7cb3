/// A time of the clock as a date and a time of day in UTC, in the Gregorian calendar.
///
/// Names of conflicts are made of it, which must be the same on all machines: so it asks no library and no time zone.
package struct CivilTime: Hashable, Sendable {
  /// A day, in milliseconds.
  package static let dayMilliseconds: UInt64 = 86_400_000

  package let year: Int
  package let month: Int
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// - Parameter milliseconds: Since 1970.
  package init(milliseconds: UInt64) {
    let seconds = milliseconds / 1000
    let secondOfDay = Int(seconds % 86_400)
    (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
    // Years are counted from March, so that the day that some have more comes last; 719,468 days lie between
    // the first of March of year 0 and 1970.
    let days = Int(seconds / 86_400) + 719_468
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// `2026-03-01`.
  package var date: String {
    "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
  }

  /// `2026-03-01 081500`: sorts by time, and is a valid part of a name everywhere.
  package var stamp: String {
    "\(date) \(Self.digits(hour, 2))\(Self.digits(minute, 2))\(Self.digits(second, 2))"
  }

  /// A number with zeros before it up to so many digits.
  package static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
