import Testing

@testable import VaultCrypto

@Suite struct SecretBytesTests {
  @Test func startsAsZerosAndKeepsWhatIsWritten() {
    var secret = SecretBytes(count: 40)
    #expect(secret.exposed == [UInt8](repeating: 0, count: 40))
    secret.withUnsafeMutableBytes { $0[39] = 7 }
    #expect(secret.exposed.last == 7 && secret.count == 40)
  }

  @Test func maybeEmpty() {
    #expect(SecretBytes(count: 0).exposed.isEmpty)
    #expect(SecretBytes(copying: []).constantTimeEquals(SecretBytes(count: 0)) == true)
    #expect(SecretBytes(randomCount: 0).copy().count == 0)
  }

  @Test func aCopyIsMemoryOfItsOwn() {
    let original = SecretBytes(copying: [1, 2, 3])
    var copy = original.copy()
    #expect(copy.constantTimeEquals(original) == true)
    copy.withUnsafeMutableBytes { $0[0] = 9 }
    #expect(original.exposed == [1, 2, 3] && copy.exposed == [9, 2, 3])
    #expect(original.prefix(2).exposed == [1, 2])
  }

  @Test func comparesSizesAndBytes() {
    let secret = SecretBytes(copying: [1, 2, 3])
    #expect(secret.constantTimeEquals(SecretBytes(copying: [1, 2, 3])) == true)
    #expect(secret.constantTimeEquals(SecretBytes(copying: [1, 2, 4])) == false)
    #expect(secret.constantTimeEquals(SecretBytes(copying: [1, 2])) == false)
  }

  @Test func randomBytesDiffer() {
    #expect(Set((0..<100).map { _ in randomBytes(16) }).count == 100)
    #expect(SecretBytes(randomCount: 32).constantTimeEquals(SecretBytes(randomCount: 32)) == false)
    #expect(randomBytes(0).isEmpty)
  }

  /// 16 MiB is more than an ordinary user may lock; it must work all the same.
  @Test func worksWhereMemoryCannotBeLocked() {
    var secret = SecretBytes(count: 16 << 20)
    secret.withUnsafeMutableBytes { $0[$0.count - 1] = 1 }
    #expect(secret.exposed.last == 1)
  }
}
