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
      for delta in -20...20 { sizes.insert(block << 14 + delta) }
    }
    return sizes.sorted()
  }()

  @Test(arguments: [
    (0, 488, 1, 520), (480, 488, 1, 520), (481, 504, 1, 536), (10_240, 10_248, 1, 10_280),
    (16_376, 16_392, 2, 16_440), (1_048_576, 1_048_584, 65, 1_049_640),
  ])
  func agreesWithTheTableOfTheFormat(content: Int, body: Int, blocks: Int, file: Int) {
    #expect(ObjectLayout.bodySize(contentSize: content) == body)
    #expect(ObjectLayout.blockCount(bodySize: body) == blocks)
    #expect(ObjectLayout.fileSize(contentSize: content) == file)
    #expect(ObjectLayout.smallestFileSize == 520)
  }

  @Test func bodySizeOfAFileInvertsItsSize() {
    for size in Self.sizes {
      let body = ObjectLayout.bodySize(contentSize: size)
      let file = ObjectLayout.fileSize(contentSize: size)
      guard ObjectLayout.bodySize(fileSize: file) == body else {
        Issue.record("content of \(size) bytes")
        return
      }
    }
  }

  @Test func onlySizesThatContentCanHaveAreObjects() {
    let possible = Set((0...300_000).map { ObjectLayout.fileSize(contentSize: $0) })
    for fileSize in -5...300_000
    where (ObjectLayout.bodySize(fileSize: fileSize) != nil) != possible.contains(fileSize) {
      Issue.record("file of \(fileSize) bytes")
      return
    }
    #expect(ObjectLayout.bodySize(fileSize: .min) == nil)
    #expect(ObjectLayout.bodySize(fileSize: .max) == nil)
  }

  @Test func blocksTileTheBodyAndTheFile() {
    for size in Self.sizes where size % 97 == 0 || size > 20_000 {
      let body = ObjectLayout.bodySize(contentSize: size)
      var bodyEnd = 0
      var fileEnd = ObjectLayout.headerSize
      for block in 0..<ObjectLayout.blockCount(bodySize: body) {
        let bytes = ObjectLayout.bodyRange(ofBlocks: block..<block + 1, bodySize: body)
        let sealed = ObjectLayout.fileRange(ofBlocks: block..<block + 1, bodySize: body)
        guard bytes.lowerBound == bodyEnd, sealed.lowerBound == fileEnd, !bytes.isEmpty,
          sealed.count == bytes.count + ObjectLayout.tagSize
        else {
          Issue.record("block \(block) of content of \(size) bytes")
          return
        }
        bodyEnd = bytes.upperBound
        fileEnd = sealed.upperBound
      }
      #expect(bodyEnd == body && fileEnd == ObjectLayout.fileSize(contentSize: size))
    }
  }

  @Test func blocksCoveringARangeAreTheFewest() {
    let edges = [0, 1, 16_383, 16_384, 16_385, 32_767, 32_768, 32_769, 49_152]
    for lower in edges {
      for upper in edges where upper >= lower {
        let blocks = ObjectLayout.blocks(covering: lower..<upper)
        let touched = Set((lower..<upper).map { $0 / 16_384 })
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
