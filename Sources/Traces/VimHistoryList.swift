/// `viminfo`, vim's memory of where the cursor was (`:help viminfo-file`).
///
/// Marks, jumps, the list of buffers and marks within files name paths in a form that can be told from anything else.
/// Lines of commands and registers may hold any text and are left alone.
enum VimHistoryList {
  /// Every such entry with an absolute path, in order.
  static func entries(in bytes: [UInt8], home: [UInt8], user: String) -> [ListEntry] {
    var entries: [ListEntry] = []
    /// What the lines behind an entry begin with that go with it.
    var follower: UInt8?
    var position = 0
    while position < bytes.count {
      let line = bytes[position...].prefix { $0 != UInt8(ascii: "\n") }
      let end = min(line.endIndex + 1, bytes.count)
      defer { position = end }
      if let follower, line.first == follower {
        if let last = entries.indices.last, entries[last].range.upperBound == position {
          entries[last].range = entries[last].range.lowerBound..<end
        }
        continue
      }
      follower = nil
      guard let (path, next) = path(in: line) else { continue }
      follower = next
      if let path = VimPaths.absolute(path, home: home, user: user) {
        entries.append(ListEntry(range: position..<end, path: path))
      }
    }
    return entries
  }

  /// The path of a line that begins an entry, and how its other lines begin.
  private static func path(in line: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, UInt8)? {
    let tab = UInt8(ascii: "\t")
    let bar = UInt8(ascii: "|")
    if line.starts(with: "> ".utf8) { return (line.dropFirst(2), tab) }
    if line.first == UInt8(ascii: "%") { return (line.dropFirst().prefix { $0 != tab }, bar) }
    guard line.first == UInt8(ascii: "'") || line.starts(with: "-'".utf8) else { return nil }
    // The mark, line and column, and the rest is the path, each behind two blanks.
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
    return words.count == 4 ? (words[3].drop { $0 == UInt8(ascii: " ") }, bar) : nil
  }
}
