import Glibc

/// Names for what is being written or uploaded: a reader of the vault takes them for nothing of its own.
package enum TemporaryName {
  /// `.<name>.tmp-<seconds since 1970>-<8 random hex digits>`.
  package static func make(for name: String) -> String { make(for: name, at: Int(time(nil))) }

  /// A name as it would be made so many seconds after the beginning of 1970.
  package static func make(for name: String, at seconds: Int) -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    let zeros = String(repeating: "0", count: 8 - digits.count)
    return ".\(name).tmp-\(UInt32(clamping: seconds))-\(zeros)\(digits)"
  }

  /// Whether the last name of a path is such a one, of any process: what is there was left by one that was interrupted, or is
  /// being written now.
  package static func ends(_ path: String) -> Bool { number(in: path) != nil }

  /// Whether it is such a one, and was made so long before this time, in seconds since 1970, that nobody writes it any more.
  ///
  /// Whoever still does, with a clock that is wrong, cannot give it its name then, and begins anew.
  package static func isLeftOver(_ path: String, at now: Int) -> Bool {
    guard let number = number(in: path) else { return false }
    return number >= firstTime && number < now - longestWriting
  }

  /// Whether it is such a one that is a leftover some day, if nobody gives it its name before.
  package static func ages(_ path: String) -> Bool {
    number(in: path).map { $0 >= firstTime } ?? false
  }

  /// What stands there in names of before is the id of a process, and none is so large.
  private static let firstTime = 1_600_000_000
  private static let longestWriting = 7 * 86_400

  private static func number(in path: String) -> Int? {
    guard let name = path.split(separator: "/").last, name.hasPrefix(".") else { return nil }
    let parts = Array(name.split(separator: "-", omittingEmptySubsequences: false).suffix(3))
    guard parts.count == 3, parts[0].hasSuffix(".tmp"), parts[2].utf8.count == 8,
      UInt32(parts[2], radix: 16) != nil
    else { return nil }
    return UInt32(parts[1]).map { Int($0) }
  }
}
