import Testing

@testable import VaultFiles

@Suite struct LookupPatternTests {
  @Test func aFewShortReadsHereAndThereAreRecognizedOnce() {
    var pattern = LookupPattern()
    let answers = [500, 100, 900, 300, 700, 200].map {
      pattern.isRecognized(byNextReadAt: $0 << 20, byteCount: 4096)
    }
    #expect(answers == [false, false, false, true, false, false])
  }

  @Test func readingOnIsNoLookup() {
    var pattern = LookupPattern()
    for block in 0..<100 {
      let isLookup = pattern.isRecognized(byNextReadAt: UInt64(block) * 4096, byteCount: 4096)
      #expect(!isLookup)
    }
  }

  @Test func longReadsAreNoLookups() {
    var pattern = LookupPattern()
    for block in [9, 3, 7, 1, 5, 2] {
      let isLookup = pattern.isRecognized(byNextReadAt: UInt64(block) << 20, byteCount: 1 << 20)
      #expect(!isLookup)
    }
  }
}
