import Testing
import VaultModel

/// Docs/Format.md, "6. Objects".
@Suite struct ObjectLayoutTests {
  /// Around every block boundary and every power of two up to 4 MiB, and everything small.
  static let sizes: [Int] = {
    var sizes = Set(0...20_000)
    for shift in 10...22 {
      for delta in -20...20 { sizes.insert(1 << shift + delta) }
    }
    for block in 1...70 {
      for delta in -20...20 {
        sizes.formUnion([block << 12 + delta, block << 14 + delta])
      }
    }
    return sizes.sorted()
  }()

  struct Row: Sendable {
    let content, body: Int
    /// Blocks of 4 KiB, and the file's size with them.
    let small: (blocks: Int, file: Int)
    /// The same for blocks of 16 KiB.
    let large: (blocks: Int, file: Int)
  }

  @Test(arguments: [
    Row(content: 0, body: 488, small: (1, 520), large: (1, 520)),
    Row(content: 480, body: 488, small: (1, 520), large: (1, 520)),
    Row(content: 481, body: 504, small: (1, 536), large: (1, 536)),
    Row(content: 4_088, body: 4_104, small: (2, 4_152), large: (1, 4_136)),
    Row(content: 10_240, body: 10_248, small: (3, 10_312), large: (1, 10_280)),
    Row(content: 16_376, body: 16_392, small: (5, 16_488), large: (2, 16_440)),
    Row(content: 1_048_576, body: 1_048_584, small: (257, 1_052_712), large: (65, 1_049_640)),
  ])
  func agreesWithTheTableOfTheFormat(row: Row) {
    #expect(ObjectLayout.bodySize(contentSize: row.content) == row.body)
    for (layout, expected) in [
      (ObjectLayout.blocksOf4KiB, row.small), (.blocksOf16KiB, row.large),
    ] {
      #expect(layout.blockCount(bodySize: row.body) == expected.blocks)
      #expect(layout.fileSize(contentSize: row.content) == expected.file)
    }
    #expect(ObjectLayout.smallestFileSize == 520)
    #expect(ObjectLayout.largestFileSize(of: .chunk) == 1_052_712)
  }

  @Test(arguments: ObjectLayout.all) func bodySizeOfAFileInvertsItsSize(layout: ObjectLayout) {
    for size in Self.sizes {
      let body = ObjectLayout.bodySize(contentSize: size)
      let file = layout.fileSize(contentSize: size)
      guard layout.bodySize(fileSize: file) == body,
        ObjectLayout.mayHold(contentSize: size, fileSize: file),
        file >= ObjectLayout.smallestFileSize(contentSize: size)
      else {
        Issue.record("content of \(size) bytes")
        return
      }
    }
  }

  @Test(arguments: ObjectLayout.all)
  func onlySizesThatContentCanHaveAreObjects(layout: ObjectLayout) {
    let possible = Set((0...300_000).map { layout.fileSize(contentSize: $0) })
    for fileSize in -5...300_000
    where (layout.bodySize(fileSize: fileSize) != nil) != possible.contains(fileSize) {
      Issue.record("file of \(fileSize) bytes")
      return
    }
    #expect(layout.bodySize(fileSize: .min) == nil)
    #expect(layout.bodySize(fileSize: .max) == nil)
  }

  /// Whoever opens an object has its size, and does not have to read its header first.
  @Test func theSizeTellsTheLayoutOfAllButObjectsOfOneBlock() {
    func sizes(_ layout: ObjectLayout) -> Set<Int> {
      var sizes: Set<Int> = []
      var content = 0
      while content <= ObjectLayout.maximumContentSize(of: .announcement) {
        let padded = ObjectLayout.paddedSize(contentSize: content)
        sizes.insert(layout.fileSize(contentSize: padded))
        content = padded + 1
      }
      return sizes
    }
    let shared = sizes(.blocksOf4KiB).intersection(sizes(.blocksOf16KiB))
    #expect(shared.count > 20)
    #expect(shared.max().map { $0 <= 16 + 4_096 + 16 } == true)
    for kind in [ObjectKind.chunk, .page] {
      #expect(ObjectLayout.ofFile(size: 520, kind: kind) == .current(for: kind))
      #expect(ObjectLayout.ofFile(size: 1_052_712, kind: kind) == .blocksOf4KiB)
      #expect(ObjectLayout.ofFile(size: 1_049_640, kind: kind) == .blocksOf16KiB)
      #expect(ObjectLayout.ofFile(size: 1_049_641, kind: kind) == nil)
    }
  }

  @Test func aFileMayHoldNoMoreThanItsLayoutHasRoomFor() {
    #expect(ObjectLayout.mayHold(contentSize: 1 << 20, fileSize: 1_049_640))
    #expect(ObjectLayout.mayHold(contentSize: 1 << 20, fileSize: 1_052_712))
    #expect(!ObjectLayout.mayHold(contentSize: 1 << 20, fileSize: 1_052_711))
    // Large enough for as much content with blocks of 16 KiB, but it has blocks of 4 KiB.
    let size = ObjectLayout.blocksOf4KiB.fileSize(contentSize: 1 << 20 - 1 << 14)
    #expect(!ObjectLayout.mayHold(contentSize: 1 << 20, fileSize: size))
  }

  @Test(arguments: ObjectLayout.all) func blocksTileTheBodyAndTheFile(layout: ObjectLayout) {
    for size in Self.sizes where size % 97 == 0 || size > 20_000 {
      let body = ObjectLayout.bodySize(contentSize: size)
      var bodyEnd = 0
      var fileEnd = ObjectLayout.headerSize
      for block in 0..<layout.blockCount(bodySize: body) {
        let bytes = layout.bodyRange(ofBlocks: block..<block + 1, bodySize: body)
        let sealed = layout.fileRange(ofBlocks: block..<block + 1, bodySize: body)
        guard bytes.lowerBound == bodyEnd, sealed.lowerBound == fileEnd, !bytes.isEmpty,
          sealed.count == bytes.count + ObjectLayout.tagSize
        else {
          Issue.record("block \(block) of content of \(size) bytes")
          return
        }
        bodyEnd = bytes.upperBound
        fileEnd = sealed.upperBound
      }
      #expect(bodyEnd == body && fileEnd == layout.fileSize(contentSize: size))
    }
  }

  @Test(arguments: ObjectLayout.all) func blocksCoveringARangeAreTheFewest(layout: ObjectLayout) {
    let block = layout.blockSize
    let edges = [0, 1, 3 * block] + [block, 2 * block].flatMap { [$0 - 1, $0, $0 + 1] }
    for lower in edges {
      for upper in edges where upper >= lower {
        let blocks = layout.blocks(covering: lower..<upper)
        let touched = Set((lower..<upper).map { $0 / block })
        #expect(Set(blocks) == touched, "\(lower)..<\(upper)")
      }
    }
  }

  @Test func onlyOneBodySizeIsCanonicalForContent() {
    for content in 0...2_000 {
      let canonical = ObjectLayout.bodySize(contentSize: content)
      for body in 0...2_200
      where ObjectLayout.isCanonical(contentSize: content, bodySize: body) != (body == canonical) {
        Issue.record("content \(content), body \(body)")
        return
      }
    }
    #expect(!ObjectLayout.isCanonical(contentSize: -1, bodySize: 488))
    #expect(!ObjectLayout.isCanonical(contentSize: .max, bodySize: 488))
  }
}

@Suite struct PaddingTests {
  /// The definition, spelled out with loops instead of bit tricks.
  private static func slowPadme(_ size: Int) -> Int {
    guard size > 2 else { return size }
    var exponent = 0
    while 1 << (exponent + 1) <= size { exponent += 1 }
    var bits = 0
    while 1 << (bits + 1) <= exponent { bits += 1 }
    let step = 1 << (exponent - (bits + 1))
    var padded = size
    while padded % step != 0 { padded += 1 }
    return padded
  }

  @Test func agreesWithTheDefinition() {
    for size in 0...70_000 where Padding.padme(size) != Self.slowPadme(size) {
      Issue.record("\(size) bytes")
      return
    }
    #expect(Padding.padme(1 << 62) == 1 << 62)
  }

  @Test func paddingIsIdempotentMonotonicAndAtMostTwelvePercent() {
    var last = 0
    for size in 0...300_000 {
      let padded = Padding.padme(size)
      guard padded >= size, padded >= last, Padding.padme(padded) == padded,
        (padded - size) * 100 <= size * 12
      else {
        Issue.record("\(size) bytes")
        return
      }
      last = padded
    }
  }

  @Test func aFullChunkIsNotPadded() {
    #expect(Padding.padme(1 << 20) == 1 << 20)
  }
}
