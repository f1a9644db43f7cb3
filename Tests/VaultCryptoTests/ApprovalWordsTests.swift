import Testing
import VaultModel

@testable import VaultCrypto

/// For whom the eight words may be. The expected words and people were computed by another program.
@Suite struct ApprovalWordsTests {
  private let person = PersonID((0..<32).map { UInt8($0) })!
  /// The mark of the person, and eight bytes from 0x40 on.
  private static let marked = "friend bamboo aware loyal crowd cargo boil throw"
  /// The first bytes of the person, and the same eight.
  private static let before = "abandon anxiety aware loyal crowd cargo boil trade"

  /// Somebody whose id begins as the person's, with a number of theirs.
  private func madeUp(_ number: UInt32) -> PersonID {
    let digits = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    let bytes: [UInt8] = [0, 1] + digits + [UInt8](repeating: 0, count: 26)
    return PersonID(bytes)!
  }

  @Test func areForTheirPerson() throws {
    for _ in 0..<100 {
      let person = PersonID.random()
      let words = ApprovalWords.random(for: person)
      #expect(words.mayBe(for: person) == true)
      let typed = try ApprovalWords(parsing: words.words.joined(separator: " "))
      #expect(typed.mayBe(for: person) == true)
    }
  }

  @Test(arguments: [marked, before])
  func areThoseOfTheFormat(_ text: String) throws {
    let words = try ApprovalWords(parsing: text)
    #expect(words.mayBe(for: person) == true)
    #expect(words.words.joined(separator: " ") == text)
  }

  /// All these ids are less than the person's.
  @Test func whoseIdBeginsAlikeIsAsGoodAsAnybody() throws {
    let words = try ApprovalWords(parsing: Self.marked)
    var found: [UInt32] = []
    for number in UInt32(0)..<10_000 where words.mayBe(for: madeUp(number)) { found.append(number) }
    #expect(found == [])
    #expect(words.mayBe(for: madeUp(84_263)) == true)
  }

  /// Each time words are made for the same person, they say something else of them.
  @Test func theMarkIsAnotherEachTime() {
    let marks = (0..<20).map { _ in ApprovalWords.random(for: person).words[0] }
    #expect(Set(marks).count > 10)
  }
}
