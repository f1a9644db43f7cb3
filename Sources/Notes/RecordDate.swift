/// When something of a record was: `2025-01-20`, or as much of it as is known: `2025-01`, `2025`.
package enum RecordDate {
  /// Whether a text is written so, and names a day, a month or a year that there is.
  package static func isWritten(_ text: some StringProtocol) -> Bool {
    // A hundred thousand are looked at for one list, hence bytes.
    let bytes = text.utf8
    guard [4, 7, 10].contains(bytes.count) else { return false }
    var numbers = [0]
    for (position, byte) in bytes.enumerated() {
      if position == 4 || position == 7 {
        guard byte == UInt8(ascii: "-") else { return false }
        numbers.append(0)
      } else {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
        numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    return exists(numbers)
  }

  /// The date that a record's note says, as `2025-01-20`, `2025-01` or `2025`; nil where it says none that there is.
  ///
  /// What stands behind a day, as a time or the last day of several does, is left out. `1/2/2025` is another day in another
  /// country, so it says none.
  package static func read(_ text: String) -> String? {
    if isWritten(text) { return text }
    let whole = reading(text)
    if isWritten(whole) { return whole }
    let parts = dottedParts(text)
    // A hyphen is a part of `2025-1-20`, and follows `20.1.2025`.
    let isDotted = parts.count > 1 && parts[0].allSatisfy(\.isNumber)
    let ends: [Character] = isDotted ? [" ", "T", "–", "-"] : [" ", "T", "–"]
    let day = reading(String(parts.joined(separator: ".").prefix { !ends.contains($0) }))
    return day.utf8.count == 10 && isWritten(day) ? day : nil
  }

  /// A date as a record has it, where it was typed as a large part of the world writes it, `20.1.2025`, `20. 1. 2025` or
  /// `1.2025`, or without its zeros, `2025-1-20`; any other text as it stands.
  package static func reading(_ text: String) -> String {
    let dotted = dottedParts(text)
    let parts: [Substring] =
      dotted.count > 1
      ? dotted.reversed() : text.split(separator: "-", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts[0].count == 4,
      parts.dropFirst().allSatisfy({ (1...2).contains($0.count) }),
      parts.allSatisfy({ $0.allSatisfy { ("0"..."9").contains($0) } })
    else { return text }
    let read = parts.map { $0.count == 1 ? "0\($0)" : String($0) }.joined(separator: "-")
    return isWritten(read) ? read : text
  }

  /// What stands between the dots, without the blanks behind them.
  private static func dottedParts(_ text: String) -> [Substring] {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false)
    for position in parts.indices.dropFirst() {
      parts[position] = parts[position].drop(while: \.isWhitespace)
    }
    return parts
  }

  private static func exists(_ numbers: [Int]) -> Bool {
    // There was no year 0.
    guard let year = numbers.first, year > 0 else { return false }
    guard numbers.count > 1 else { return true }
    guard (1...12).contains(numbers[1]) else { return false }
    guard numbers.count > 2 else { return true }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[numbers[1] - 1]).contains(numbers[2])
  }
}
