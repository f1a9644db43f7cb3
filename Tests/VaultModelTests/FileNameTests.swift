import Fuzzing
import Testing
import VaultModel

@Suite struct FileNameTests {
  @Test func refusesWhatNoFileCanHave() {
    for text in ["", ".", "..", "a/b", "a\0", String(repeating: "x", count: 256)] {
      #expect(FileName(text) == nil)
    }
    for text in ["...", ".a", "a.", "x", String(repeating: "x", count: 255)] {
      #expect(FileName(text)?.string == text)
    }
  }

  @Test func namesStandInTheOrderThatPeoplePutThemIn() {
    let names = ["card.jpg", "IM2", "IM10", "im10", "Letter", "letter", "Report.pdf", "scan"]
    let sorted = names.reversed().compactMap { FileName($0) }.sortedNaturally { $0 }
    #expect(sorted.map(\.string) == names)
  }

  @Test func comparesAsItsBytesAtEveryLength() throws {
    var random = SeededRandom(seed: 1)
    var names: [FileName] = []
    for length in [1, 7, 8, 15, 16, 22, 23, 24, 25, 254, 255] {
      for last in [1, 0x2e, 0x7f, 0x80, 0xff] as [UInt8] {
        let bytes = [UInt8](repeating: 0x61, count: length - 1) + [last]
        guard let name = FileName(bytes) else { continue }
        #expect(name.bytes == bytes)
        #expect(name.byteCount == length)
        names.append(name)
      }
    }
    names.shuffle(using: &random)
    for left in names {
      for right in names {
        #expect((left < right) == left.bytes.lexicographicallyPrecedes(right.bytes))
        #expect((left == right) == (left.bytes == right.bytes))
      }
    }
    #expect(Set(names).count == Set(names.map(\.bytes)).count)
  }
}
