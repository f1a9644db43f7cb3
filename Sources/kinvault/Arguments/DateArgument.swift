import ArgumentParser

/// A date as records have it: `2025-01-20`, or as much of it as is known: `2025-01`, `2025`.
struct DateArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
    let lengths = [4, 2, 2]
    guard (1...3).contains(parts.count),
      zip(parts, lengths).allSatisfy({
        $0.count == $1 && $0.allSatisfy { ("0"..."9").contains($0) }
      })
    else { return nil }
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count, Self.exists(numbers) else { return nil }
    text = argument
  }

  /// When the day begins that comes so many days after this one, in this machine's time; milliseconds since 1970, and nil
  /// where no day is named.
  func begin(addingDays days: Int = 0) -> UInt64? {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    return LocalTime.milliseconds([parts[0], parts[1], parts[2] + days])
  }

  private static func exists(_ numbers: [Int]) -> Bool {
    guard numbers.count > 1 else { return true }
    guard (1...12).contains(numbers[1]) else { return false }
    guard numbers.count > 2 else { return true }
    let isLeap = numbers[0] % 4 == 0 && (numbers[0] % 100 != 0 || numbers[0] % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[numbers[1] - 1]).contains(numbers[2])
  }
}
