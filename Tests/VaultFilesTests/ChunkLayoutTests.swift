import Testing

@testable import VaultFiles

@Suite struct ChunkLayoutTests {
  @Test(arguments: 1...5)
  func slicesCoverARangeWithoutGapOrOverlap(chunkSize: Int) {
    let layout = ChunkLayout(chunkSize: chunkSize)
    for start in 0..<20 as Range<UInt64> {
      for end in start..<22 {
        var position = start
        for slice in layout.slices(start..<end) {
          #expect(!slice.range.isEmpty && slice.range.upperBound <= chunkSize)
          #expect(layout.start(of: slice.chunk) + UInt64(slice.range.lowerBound) == position)
          #expect(UInt64(slice.offset) == position - start)
          position += UInt64(slice.range.count)
        }
        #expect(position == end)
      }
    }
  }

  @Test(arguments: 1...5)
  func extentsAddUpToTheSize(chunkSize: Int) {
    let layout = ChunkLayout(chunkSize: chunkSize)
    for size in 0..<30 as Range<UInt64> {
      let count = layout.chunkCount(size: size)
      let total = (0..<count).reduce(0) { $0 + layout.extent(of: $1, size: size) }
      #expect(UInt64(total) == size)
      #expect(layout.extent(of: count, size: size) == 0)
      #expect((0..<count).allSatisfy { layout.extent(of: $0, size: size) > 0 })
    }
  }
}
