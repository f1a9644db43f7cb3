/// `filepos_history`, in which nano notes where the cursor was in a file (`set positionlog`): a line for each file, with
/// the path, the line and the column.
enum NanoHistoryList {
  /// Every line, in order.
  static func entries(in bytes: [UInt8]) -> [ListEntry] {
    let blank = UInt8(ascii: " ")
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard let column = line.lastIndex(of: blank), let row = line[..<column].lastIndex(of: blank)
      else { return nil }
      // nano writes a line feed in a name as a zero byte.
      let path = line[..<row].map { $0 == 0 ? UInt8(ascii: "\n") : $0 }
      return ListEntry(range: line.startIndex..<min(line.endIndex + 1, bytes.count), path: path)
    }
  }
}
