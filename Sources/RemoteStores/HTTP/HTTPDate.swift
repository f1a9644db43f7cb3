/// The one date form that servers still send, RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  /// Seconds since 1970; nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "," })
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard parts.count == 8, parts[7] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
      (1970...9999).contains(year), let hour = Int64(parts[4]), (0...23).contains(hour),
      let minute = Int64(parts[5]), (0...59).contains(minute), let second = Int64(parts[6]),
      (0...60).contains(second)
    else { return nil }
    // http://howardhinnant.github.io/date_algorithms.html#days_from_civil
    let shiftedYear = month < 2 ? year - 1 : year
    let monthFromMarch = Int64((month + 10) % 12)
    let yearOfEra = shiftedYear % 400
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = shiftedYear / 400 * 146_097 + dayOfEra - 719_468
    return ((days * 24 + hour) * 60 + minute) * 60 + second
  }
}
