/// Notices that a file is read from front to back, and says which chunks come next. A value without I/O.
struct ReadSequence {
  /// So many chunks are asked for before they are read.
  static let chunksAhead = 3
  /// So many bytes in a row are read by someone who goes on. Many programs look at the beginning of a file and no
  /// further, and two reads here and there may well be next to each other.
  static let runLimit = 256 << 10

  private var lastChunk: Int?
  /// Bytes since reading last jumped.
  private var runLength = 0
  private var askedEnd = 0

  /// To be told of every read.
  ///
  /// - Returns: The chunks that will be wanted soon and were not named before; none while reading jumps about.
  mutating func read(_ range: Range<UInt64>, _ layout: ChunkLayout, chunkCount: Int) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    let first = layout.chunk(at: range.lowerBound)
    let chunk = layout.chunk(at: range.upperBound - 1)
    if let lastChunk, lastChunk != first, lastChunk != first - 1 { (runLength, askedEnd) = (0, 0) }
    lastChunk = chunk
    runLength += range.count
    guard runLength > Self.runLimit else { return 0..<0 }
    let start = max(chunk + 1, askedEnd)
    let end = min(chunk + 1 + Self.chunksAhead, chunkCount)
    guard start < end else { return 0..<0 }
    askedEnd = end
    return start..<end
  }
}
