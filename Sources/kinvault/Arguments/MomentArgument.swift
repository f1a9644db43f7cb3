import ArgumentParser
import Glibc
import Vault

/// A time as people type it: `2025`, `2025-01`, `2025-01-20`, `2025-01-20 14:03`, a day also as `20.1.2025`, `today`,
/// `yesterday`, or so long ago: `90m`, `12h`, `7d`.
struct MomentArgument: ExpressibleByArgument {
  /// Where it begins and where it is over, in milliseconds since 1970: a day has both.
  let start: UInt64
  let end: UInt64

  init?(argument: String) {
    if let age = TimeArgument(argument: argument), argument.last?.isLetter == true {
      let now = time(nil)
      start = UInt64(clamping: now - age.seconds) * 1000
      end = start
      return
    }
    if let daysAgo = ["today", "yesterday"].firstIndex(of: argument.lowercased()) {
      let today = LocalTimeText.today()
      guard let first = LocalTime.begin(ofDay: today, addingDays: -daysAgo),
        let next = LocalTime.begin(ofDay: today, addingDays: 1 - daysAgo)
      else { return nil }
      (start, end) = (first, next)
      return
    }
    // `3. 5. 2024` has blanks of its own.
    let isDate = DateArgument(argument: argument) != nil
    let parts =
      isDate ? [argument[...]] : argument.split(maxSplits: 1) { $0 == " " || $0 == "T" }
    guard let day = parts.first, let date = DateArgument(argument: String(day)) else { return nil }
    var numbers = date.text.split(separator: "-").compactMap { Int($0) }
    if parts.count == 2 {
      let clock = parts[1].split(separator: ":", omittingEmptySubsequences: false)
      guard numbers.count == 3, clock.count == 2,
        clock.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }), let hour = Int(clock[0]),
        let minute = Int(clock[1]), hour < 24, minute < 60
      else { return nil }
      numbers += [hour, minute]
    }
    var next = numbers
    next[next.count - 1] += 1
    start = LocalTime.milliseconds(numbers)
    end = LocalTime.milliseconds(next)
  }
}
