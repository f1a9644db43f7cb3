/// When something of a record was: `2025-01-20`, or as much of it as is known: `2025-01`, `2025`.
package enum RecordDate {
  /// Whether a text is written so, and names a day, a month or a year that there is.
  package static func isWritten(_ text: some StringProtocol) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count),
      zip(parts, [4, 2, 2]).allSatisfy({ part, length in
        part.count == length && part.allSatisfy { ("0"..."9").contains($0) }
      })
    else { return false }
    return exists(parts.compactMap { Int($0) })
  }

  /// A date as a record has it, where it was typed as a large part of the world writes it, `20.1.2025` or `1.2025`; any other
  /// text as it stands.
  package static func reading(_ text: String) -> String {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts.last?.count == 4,
      parts.dropLast().allSatisfy({ (1...2).contains($0.count) }),
      parts.allSatisfy({ $0.allSatisfy { ("0"..."9").contains($0) } })
    else { return text }
    let read = parts.reversed().map { $0.count == 1 ? "0\($0)" : String($0) }
      .joined(separator: "-")
    return isWritten(read) ? read : text
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
