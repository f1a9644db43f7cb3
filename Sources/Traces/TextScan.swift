/// Looks for any of some texts in files, reading each file once. A text counts only where one of certain bytes follows.
struct TextScan {
  /// Files are read in parts of so many bytes.
  static let partByteCount = 1 << 20

  private let texts: [[UInt8]]
  private let next: ClosedRange<UInt8>
  /// What all texts begin with: looked for first, and the texts only where it stands.
  private let beginning: [UInt8]
  /// For each byte how far a search may go on when that byte stands where the beginning would end (Horspool).
  private let steps: [Int]
  /// Parts share so many bytes, in which a text and the byte after it would be cut off.
  private let overlap: Int

  /// - Parameters:
  ///   - texts: None is empty, or of half a part or more.
  ///   - next: What the byte after a text has to be.
  init(for texts: [[UInt8]], before next: ClosedRange<UInt8>) {
    precondition(texts.allSatisfy { !$0.isEmpty && $0.count < Self.partByteCount / 2 })
    self.texts = texts
    self.next = next
    let first = texts.first ?? []
    beginning = texts.reduce(first) { common, text in
      zip(common, text).prefix { $0 == $1 }.map(\.0)
    }
    var steps = [Int](repeating: max(1, beginning.count), count: 256)
    for (index, byte) in beginning.dropLast().enumerated() {
      steps[Int(byte)] = beginning.count - 1 - index
    }
    self.steps = steps
    overlap = texts.map(\.count).max() ?? 0
  }

  /// Which texts stand in a file: their places in the list.
  ///
  /// - Parameter read: So many bytes from an offset on; fewer only at the end of the file.
  func found<Failure: Error>(
    read: (_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Set<Int> {
    var found: Set<Int> = []
    var offset: UInt64 = 0
    while found.count < texts.count {
      let part = try read(offset, Self.partByteCount)
      part.withUnsafeBytes { search($0, &found) }
      guard part.count == Self.partByteCount else { break }
      offset += UInt64(Self.partByteCount - overlap)
    }
    return found
  }

  private func search(_ part: UnsafeRawBufferPointer, _ found: inout Set<Int>) {
    guard !beginning.isEmpty else { return }
    var start = 0
    while start + beginning.count <= part.count {
      let last = part[start + beginning.count - 1]
      if last == beginning[beginning.count - 1] {
        let rest = part[start...]
        if rest.starts(with: beginning) {
          for (index, text) in texts.enumerated()
          where rest.count > text.count && rest.starts(with: text)
            && next.contains(part[start + text.count])
          {
            found.insert(index)
          }
        }
      }
      start += steps[Int(last)]
    }
  }
}
