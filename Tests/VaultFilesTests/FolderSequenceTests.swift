import Testing
import VaultModel

@testable import VaultFiles

/// Which files of a folder are opened before they are asked for.
@Suite struct FolderSequenceTests {
  private let names = (0..<100).map { FileName("slice-\($0 + 100)")! }

  /// What is named after each read of these, as indices.
  private func ahead(_ reads: some Sequence<Int>) -> [[Int]] {
    var sequence = FolderSequence()
    return reads.map { read in
      sequence.read(names[read]) { names.shuffled() }.compactMap(names.firstIndex)
    }
  }

  @Test func aFewReadsInOrderNameTheNextOnce() {
    let answers = ahead(0..<100)
    #expect(answers.prefix(4).joined().isEmpty)
    #expect(answers[4] == Array(5..<37))
    // Each that comes later, once, and well before it is read.
    #expect(answers.joined().elementsEqual(5..<100))
    for (read, named) in answers.enumerated() where read > 4 {
      let isInTime = named.allSatisfy { $0 > read + 4 || read > 83 }
      #expect(isInTime || read == 4, "\(read)")
    }
    let batchCount = answers.count { !$0.isEmpty }
    #expect(batchCount < 8)
  }

  @Test func someMayBePassedOver() {
    let answers = ahead(stride(from: 0, to: 100, by: 2))
    #expect(answers.joined().contains(98))
  }

  @Test func jumpingAboutNamesNothing() {
    #expect(ahead([5, 3, 80, 81, 2, 90, 91, 92, 1, 0, 7, 8, 50, 60, 70]).joined().isEmpty)
    #expect(ahead(stride(from: 0, to: 100, by: 9)).joined().isEmpty)
    #expect(ahead((0..<100).reversed()).joined().isEmpty)
    var sequence = FolderSequence()
    var sortCount = 0
    for _ in 0..<100 {
      for name in names.indices.filter({ $0 % 9 == 0 }) {
        _ = sequence.read(names[name]) {
          sortCount += 1
          return names
        }
      }
    }
    #expect(sortCount == 1)
  }

  @Test func afterAJumpItBeginsAnew() {
    let answers = ahead(Array(0..<10) + Array(50..<60))
    #expect(answers[10...13].joined().isEmpty)
    #expect(answers[14...].joined().first == 55)
  }

  @Test func aFileThatCameMeanwhileIsNoHarm() {
    var sequence = FolderSequence()
    for name in names[0..<10] { _ = sequence.read(name) { names } }
    let new = FileName("slice-109b")!
    let answer = sequence.read(new) { names + [new] }
    #expect(answer.isEmpty)
  }
}
