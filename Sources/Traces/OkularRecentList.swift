/// The list of recently opened documents in `okularrc`, Okular's settings: in the group `[Recent Files]` a line
/// `File1[$e]=PATH` and a line `Name1[$e]=NAME` for each (KConfig's format).
enum OkularRecentList {
  /// Both lines of every document with an absolute path, in order.
  static func entries(in bytes: [UInt8], home: [UInt8]) -> [ListEntry] {
    let lines = lines(in: bytes)
    var paths: [[UInt8]: [UInt8]] = [:]
    for line in lines where line.key.starts(with: "File".utf8) {
      paths[Array(line.key.dropFirst(4))] = path(line.value, home: home)
    }
    return lines.compactMap { line in
      guard let path = paths[Array(line.key.dropFirst(4))] else { return nil }
      return ListEntry(range: line.range, path: path)
    }
  }

  private struct Line {
    var range: Range<Int>
    /// Without options such as `[$e]`.
    var key: ArraySlice<UInt8>
    var value: ArraySlice<UInt8>
  }

  /// The lines of the group that begin with `File` or `Name`.
  private static func lines(in bytes: [UInt8]) -> [Line] {
    var isInGroup = false
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      if line.first == UInt8(ascii: "[") {
        isInGroup = line.elementsEqual("[Recent Files]".utf8)
        return nil
      }
      guard isInGroup, line.starts(with: "File".utf8) || line.starts(with: "Name".utf8),
        let equals = line.firstIndex(of: UInt8(ascii: "="))
      else { return nil }
      return Line(
        range: line.startIndex..<min(line.endIndex + 1, bytes.count),
        key: line[..<equals].prefix { $0 != UInt8(ascii: "[") }, value: line[(equals + 1)...])
    }
  }

  /// `$HOME` stands for the home, `$$` for `$`, and `\s` and `\\` for a blank and a backslash.
  private static func path(_ value: ArraySlice<UInt8>, home: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = value
    let variable = "$HOME/".utf8
    if rest.starts(with: variable) {
      result = home
      rest = rest.dropFirst(variable.count - 1)
    }
    while let byte = rest.popFirst() {
      switch (byte, rest.first) {
      case (UInt8(ascii: "$"), UInt8(ascii: "$")?), (UInt8(ascii: "\\"), UInt8(ascii: "\\")?):
        result.append(byte)
        rest = rest.dropFirst()
      case (UInt8(ascii: "\\"), UInt8(ascii: "s")?):
        result.append(UInt8(ascii: " "))
        rest = rest.dropFirst()
      default: result.append(byte)
      }
    }
    return result.first == UInt8(ascii: "/") ? result : FileURI.path(of: result)
  }
}
