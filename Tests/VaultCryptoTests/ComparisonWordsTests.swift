import Testing
import VaultModel

@testable import VaultCrypto

struct ComparisonWordsTests {
  /// Computed with libsodium's Argon2id and HMAC by another program.
  @Test func areThoseOfTheFormatInWhicheverOrder() throws {
    let binding = Binding(vault: try #require(VaultID(Array(0..<16))))
    let first = try #require(PersonID(Array(0..<32)))
    let second = try #require(PersonID([0x80] + [UInt8](repeating: 7, count: 31)))
    let expected = ["sun", "main", "symptom", "address", "street", "civil"]
    #expect(try ComparisonWords.words(first, second, binding: binding) == expected)
    #expect(try ComparisonWords.words(second, first, binding: binding) == expected)
    let elsewhere = Binding(vault: .random())
    #expect(try ComparisonWords.words(first, second, binding: elsewhere) != expected)
  }
}
