/// The arithmetic of cutting content into chunks (Docs/Format.md, "Attachments"); the chunk size is a
/// parameter so that tests can walk every boundary.
struct ChunkLayout: Hashable, Sendable {
  /// The part of a range of the file that lies in one chunk.
  struct Slice: Hashable, Sendable {
    let chunk: Int
    /// Within the chunk.
    let range: Range<Int>
    /// Of the first byte, from the start of the range that was cut.
    let offset: Int
  }

  /// In bytes.
  let chunkSize: Int

  /// The format's chunks of 1 MiB.
  static let format = ChunkLayout(chunkSize: 1 << 20)

  /// The number of chunks of a file of this size.
  func chunkCount(size: UInt64) -> Int {
    Int((size + UInt64(chunkSize) - 1) / UInt64(chunkSize))
  }

  /// The number of bytes of a chunk that lie inside a file of this size; 0 if none do.
  func extent(of chunk: Int, size: UInt64) -> Int {
    let start = start(of: chunk)
    return size <= start ? 0 : Int(min(UInt64(chunkSize), size - start))
  }

  /// The file offset of a chunk's first byte.
  func start(of chunk: Int) -> UInt64 { UInt64(chunk) * UInt64(chunkSize) }

  /// The chunk that holds the byte at this offset.
  func chunk(at offset: UInt64) -> Int { Int(offset / UInt64(chunkSize)) }

  /// Whether the offset is the first byte of a chunk.
  func isBoundary(_ offset: UInt64) -> Bool { offset.isMultiple(of: UInt64(chunkSize)) }

  /// Cuts a range of the file at chunk boundaries; in order, without empty slices.
  func slices(_ range: Range<UInt64>) -> [Slice] {
    guard !range.isEmpty else { return [] }
    var slices: [Slice] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let chunk = chunk(at: position)
      let start = start(of: chunk)
      let end = min(range.upperBound, start + UInt64(chunkSize))
      slices.append(
        Slice(
          chunk: chunk, range: Int(position - start)..<Int(end - start),
          offset: Int(position - range.lowerBound)))
      position = end
    }
    return slices
  }
}
