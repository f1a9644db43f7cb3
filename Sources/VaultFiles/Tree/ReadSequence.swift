/// Notices that a file is read from front to back, and says which chunks come next. A value without I/O.
struct ReadSequence {
  /// So many chunks are asked for before they are read.
  static let chunksAhead = 3

  private var lastChunk: Int?
  private var askedEnd = 0

  /// To be told of every read.
  ///
  /// - Returns: The chunks that will be wanted soon and were not named before; none while reading jumps about.
  mutating func read(upTo chunk: Int, chunkCount: Int) -> Range<Int> {
    defer { lastChunk = chunk }
    let isNext = chunk == 0 && lastChunk == nil || lastChunk == chunk - 1
    guard isNext || lastChunk == chunk else {
      askedEnd = 0
      return 0..<0
    }
    let start = max(chunk + 1, askedEnd)
    let end = min(chunk + 1 + Self.chunksAhead, chunkCount)
    guard isNext, start < end else { return 0..<0 }
    askedEnd = end
    return start..<end
  }
}
