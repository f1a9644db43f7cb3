/// An entry of a list that a program keeps in a file of text: the bytes that go with it, and the path that it names.
struct ListEntry: Hashable, Sendable {
  var range: Range<Int>
  var path: [UInt8]
}

extension ListEntry {
  /// An entry that tags make, with the blanks and the line feed before them, so that no empty line stays.
  init(tags range: Range<Int>, of bytes: [UInt8], path: [UInt8]) {
    var start = range.lowerBound
    while start > 0, [UInt8(ascii: " "), UInt8(ascii: "\t")].contains(bytes[start - 1]) {
      start -= 1
    }
    if start > 0, bytes[start - 1] == UInt8(ascii: "\n") { start -= 1 }
    self.init(range: start..<range.upperBound, path: path)
  }
}

/// A list that does not have the form which its program gives it, so that nothing in it is touched.
struct MalformedList: Error, Hashable {
  var reason: String
}

extension [UInt8] {
  /// These bytes without those of the entries, which stand in order; every other byte stays.
  func removing(_ entries: [ListEntry]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var position = 0
    for entry in entries {
      result += self[position..<entry.range.lowerBound]
      position = entry.range.upperBound
    }
    return result + self[position...]
  }
}
