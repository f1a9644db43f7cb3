/// Lines of an expectation against lines that were seen.
///
/// `<time>` is a time as in the name of a conflict's copy, `<id>` the eight digits of a name that was taken. A line `PATH ~
/// PART` is for a file whose content has that part in it, `PATH` alone for one of any content.
enum Pattern {
  /// Whether each expected line fits one of those that were seen, and none is left.
  static func match(_ expected: [String], _ seen: [String]) -> Bool {
    let (missing, extra) = compare(expected, seen)
    return missing.isEmpty && extra.isEmpty
  }

  /// Says in lines what of the nearest block is missing and what is too much.
  static func difference(_ blocks: [[String]], _ seen: [String], seenBy name: String) -> String {
    let differences = blocks.map { compare($0, seen) }
    let nearest = differences.min { $0.0.count + $0.1.count < $1.0.count + $1.1.count }
    let (missing, extra) = nearest ?? ([], seen)
    var text = "\(name) does not see what is expected."
    for line in missing { text += "\n  expected: \(line)" }
    for line in extra { text += "\n  seen:     \(line)" }
    return text
  }

  private static func compare(
    _ expected: [String], _ seen: [String]
  ) -> (missing: [String], extra: [String]) {
    var left = seen
    var missing: [String] = []
    // Those that fit fewest come first.
    for line in expected.sorted(by: { rank($0) < rank($1) }) {
      if let index = left.firstIndex(where: { fits($0, line) }) {
        left.remove(at: index)
      } else {
        missing.append(line)
      }
    }
    return (missing, left)
  }

  private static func rank(_ line: String) -> Int {
    (line.contains("<time>") || line.contains("<id>") ? 1 : 0) + (line.contains(" = ") ? 0 : 2)
  }

  static func fits(_ seen: String, _ expected: String) -> Bool {
    if fits(seen[...], expected[...]) { return true }
    let parts = expected.split(separator: " ~ ", maxSplits: 1)
    let (path, content) = halves(seen)
    if parts.count == 2 { return fits(path[...], parts[0]) && content.contains(parts[1]) }
    return !expected.contains(" = ") && !content.isEmpty && fits(path[...], expected[...])
  }

  private static func halves(_ line: String) -> (path: String, content: String) {
    let parts = line.split(separator: " = ", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  private static func fits(_ seen: Substring, _ expected: Substring) -> Bool {
    guard let mark = expected.firstIndex(of: "<") else { return seen == expected }
    let front = expected[..<mark]
    guard seen.hasPrefix(front) else { return false }
    let (rest, pattern) = (seen.dropFirst(front.count), expected[mark...])
    for (name, shape) in [("<time>", "0000-00-00 000000"), ("<id>", "xxxxxxxx")]
    where pattern.hasPrefix(name) {
      let text = rest.prefix(shape.count)
      let isShape =
        text.count == shape.count
        && zip(text, shape).allSatisfy { character, kind in
          switch kind {
          case "0": character.isWholeNumber
          case "x": character.isHexDigit
          default: character == kind
          }
        }
      return isShape && fits(rest.dropFirst(shape.count), pattern.dropFirst(name.count))
    }
    return rest.first == "<" && fits(rest.dropFirst(), pattern.dropFirst())
  }
}
