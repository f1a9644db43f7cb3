import Testing
import VaultModel

/// The envelope of everything that is signed has one spelling: who has no key cannot show one statement as two files.
@Suite struct SignedFileTests {
  private let signed = SignedFile(body: [1, 2, 3], signature: Array(repeating: 9, count: 64))

  @Test func comesBack() throws {
    #expect(try SignedFile(decoding: signed.encoded()) == signed)
  }

  @Test func everyOtherSpellingIsRefused() {
    let file = signed.encoded()
    let others: [[UInt8]] = [
      [], Array(file.dropLast()), file + [0x18, 1], file + file, file + [0x12, 0],
      Array(file.dropFirst(5)) + Array(file.prefix(5)),
      [file[0], 0x83, 0x00] + file.dropFirst(2), [0x0a, 0x00] + file,
      SignedFile(body: [1], signature: [1]).encoded(),
    ]
    for other in others {
      #expect(throws: ModelError.self) { try SignedFile(decoding: other) }
    }
  }
}
