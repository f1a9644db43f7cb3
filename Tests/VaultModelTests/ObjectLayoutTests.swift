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

  /// The two layouts there are.
  static let layouts = [ObjectLayout(of: .chunk), ObjectLayout(of: .page)]

  struct Layout: Sendable { let body, blocks, file: Int }

  struct Row: Sendable {
    let content: Int
    let chunk, other: Layout
  }

  @Test(arguments: [
    Row(
      content: 0, chunk: Layout(body: 488, blocks: 1, file: 520),
      other: Layout(body: 488, blocks: 1, file: 520)),
    Row(
      content: 480, chunk: Layout(body: 488, blocks: 1, file: 520),
      other: Layout(body: 488, blocks: 1, file: 520)),
    Row(
      content: 481, chunk: Layout(body: 504, blocks: 1, file: 536),
      other: Layout(body: 504, blocks: 1, file: 536)),
    Row(
      content: 4_088, chunk: Layout(body: 4_104, blocks: 2, file: 4_152),
      other: Layout(body: 4_104, blocks: 1, file: 4_136)),
    Row(
      content: 10_240, chunk: Layout(body: 10_344, blocks: 3, file: 10_408),
      other: Layout(body: 10_248, blocks: 1, file: 10_280)),
    Row(
      content: 16_376, chunk: Layout(body: 16_520, blocks: 5, file: 16_616),
      other: Layout(body: 16_392, blocks: 2, file: 16_440)),
    Row(
      content: 1_048_576, chunk: Layout(body: 1_056_776, blocks: 259, file: 1_060_936),
      other: Layout(body: 1_048_584, blocks: 65, file: 1_049_640)),
  ])
  func agreesWithTheTableOfTheFormat(row: Row) {
    for (kind, expected) in [(ObjectKind.chunk, row.chunk), (.page, row.other)] {
      let layout = ObjectLayout(of: kind)
      #expect(layout.bodySize(contentSize: row.content) == expected.body)
      #expect(layout.blockCount(bodySize: expected.body) == expected.blocks)
      #expect(layout.fileSize(contentSize: row.content) == expected.file)
    }
    #expect(ObjectLayout(of: .chunk).fileSize(contentSize: 0) == 520)
    #expect(ObjectLayout.largestFileSize(of: .chunk) == 1_060_936)
  }

  @Test func allButChunksHaveOneLayout() {
    for kind in ObjectKind.allCases {
      #expect(ObjectLayout(of: kind) == Self.layouts[kind == .chunk ? 0 : 1])
    }
  }

  @Test(arguments: layouts) func bodySizeOfAFileInvertsItsSize(layout: ObjectLayout) {
    for size in Self.sizes {
      let body = layout.bodySize(contentSize: size)
      let file = layout.fileSize(contentSize: size)
      let padded = ObjectLayout.paddedSize(contentSize: size)
      guard layout.bodySize(fileSize: file) == body, layout.paddedSize(bodySize: body) == padded,
        body == padded + layout.hashesSize(paddedSize: padded) + ObjectLayout.lengthSize,
        layout.mayHold(contentSize: size, fileSize: file),
        !layout.mayHold(contentSize: padded + 1, fileSize: file)
      else {
        Issue.record("content of \(size) bytes")
        return
      }
    }
  }

  @Test(arguments: layouts)
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

  @Test func aChunkOfMoreThanABlockHasAHashForEachOfThem() {
    let chunk = ObjectLayout(of: .chunk)
    for (padded, hashes) in [(480, 0), (4_096, 0), (4_097, 64), (8_192, 64), (1 << 20, 8_192)] {
      #expect(chunk.hashesSize(paddedSize: padded) == hashes)
      #expect(ObjectLayout(of: .page).hashesSize(paddedSize: padded) == 0)
    }
  }

  @Test(arguments: layouts) func blocksTileTheBodyAndTheFile(layout: ObjectLayout) {
    for size in Self.sizes where size % 97 == 0 || size > 20_000 {
      let body = layout.bodySize(contentSize: size)
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

  @Test(arguments: layouts) func blocksCoveringARangeAreTheFewest(layout: ObjectLayout) {
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

  @Test(arguments: layouts) func onlyOneBodySizeIsCanonicalForContent(layout: ObjectLayout) {
    for content in 0...2_000 {
      let canonical = layout.bodySize(contentSize: content)
      for body in 0...2_200
      where layout.isCanonical(contentSize: content, bodySize: body) != (body == canonical) {
        Issue.record("content \(content), body \(body)")
        return
      }
    }
    #expect(!layout.isCanonical(contentSize: -1, bodySize: 488))
    #expect(!layout.isCanonical(contentSize: .max, bodySize: 488))
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
