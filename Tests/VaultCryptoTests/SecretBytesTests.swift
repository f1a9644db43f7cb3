import Testing

@testable import VaultCrypto

@Suite struct SecretBytesTests {
  @Test func startsAsZerosAndKeepsWhatIsWritten() {
    var secret = SecretBytes(count: 40)
    #expect(secret.exposed == [UInt8](repeating: 0, count: 40))
    secret.withUnsafeMutableBytes { $0[39] = 7 }
    #expect(secret.exposed.last == 7 && secret.count == 40)
  }

  /// Small secrets share pages, on which the next one takes the place of one that has ended.
  @Test(arguments: [1, 32, 63, 64, 65, 200])
  func nothingIsLeftOfOneThatHasEnded(count: Int) {
    for _ in 0..<200 {
      var secret = SecretBytes(count: count)
      #expect(secret.exposed.allSatisfy { $0 == 0 })
      secret.withUnsafeMutableBytes { bytes in
        for index in bytes.indices { bytes[index] = 0xff }
      }
    }
  }

  /// More of them than stand on a page.
  @Test func eachHasItsOwnBytes() {
    let all = (0..<200).map { Held(filledWith: UInt8($0)) }
    for (number, held) in all.enumerated() {
      #expect(held.secret.exposed == [UInt8](repeating: UInt8(number), count: 64))
    }
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

/// A secret of 64 bytes in a list.
private final class Held {
  let secret: SecretBytes

  init(filledWith byte: UInt8) {
    secret = SecretBytes(copying: [UInt8](repeating: byte, count: 64))
  }
}
