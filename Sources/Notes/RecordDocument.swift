/// A `record.md`, cut into front matter and text. Holds the bytes as they are.
package struct RecordDocument: Hashable, Sendable {
  /// The longest front matter that is parsed, in bytes.
  package static let frontMatterLimit = 65_536

  package enum Layout: Hashable, Sendable {
    /// All of it is text.
    case plain
    /// YAML between two lines of `---`, then text.
    case frontMatter(yaml: Range<Int>, text: Range<Int>)
    /// A first line of `---` that no other ends.
    case unclosed
  }

  package let bytes: [UInt8]
  package let layout: Layout

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    layout = Self.layout(of: bytes)
  }

  /// What the front matter says; nil if there is none.
  package func frontMatter() throws(FrontMatterError) -> FrontMatter? {
    switch layout {
    case .plain: return nil
    case .unclosed: throw FrontMatterError(.notClosed, line: 1)
    case .frontMatter(let yaml, _):
      guard yaml.count <= Self.frontMatterLimit else {
        throw FrontMatterError(.tooLong(byteCount: yaml.count, limit: Self.frontMatterLimit))
      }
      return try FrontMatter(parsing: bytes[yaml], firstLine: 2)
    }
  }

  /// What follows the front matter; everything, if there is none or it has no end.
  package var text: ArraySlice<UInt8> {
    switch layout {
    case .plain, .unclosed: bytes[...]
    case .frontMatter(_, let text): bytes[text]
    }
  }

  /// A line of `---` may end in spaces, a tab or a carriage return, and a byte order mark may stand
  /// before the first.
  private static func layout(of bytes: [UInt8]) -> Layout {
    var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard let first = line(in: bytes, at: position), isFence(bytes[first]) else { return .plain }
    position = first.upperBound + 1
    let start = min(position, bytes.count)
    while let next = line(in: bytes, at: position) {
      if isFence(bytes[next]) {
        let textStart = min(next.upperBound + 1, bytes.count)
        return .frontMatter(yaml: start..<next.lowerBound, text: textStart..<bytes.count)
      }
      position = next.upperBound + 1
    }
    return .unclosed
  }

  /// The line that starts at this position, without its line feed; nil at the end.
  private static func line(in bytes: [UInt8], at start: Int) -> Range<Int>? {
    guard start < bytes.count else { return nil }
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    return start..<end
  }

  private static func isFence(_ line: ArraySlice<UInt8>) -> Bool {
    line.starts(with: Array("---".utf8))
      && line.dropFirst(3).allSatisfy { [9, 13, 32].contains($0) }
  }
}
