import Crypto
import Testing
import VaultModel

@testable import VaultCrypto

/// A reader of objects written from Docs/Format.md, sections 3, 4 and 6, over swift-crypto alone:
/// it shares no arithmetic and no primitive with what it checks.
private struct IndependentReader {
  let familyMemberKey: [UInt8]
  let vault: [UInt8]
  let member: [UInt8]

  struct Refusal: Error { let reason: String }

  private func derive(_ label: String) -> SymmetricKey {
    let info = Array("kinvault/2/\(label)".utf8) + [0] + vault
    return HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: familyMemberKey), salt: member, info: info,
      outputByteCount: 32)
  }

  var keyID: [UInt8] { derive("key-id").withUnsafeBytes { Array($0.prefix(8)) } }

  func name(kind: UInt8, content: [UInt8]) -> [UInt8] {
    let digest =
      kind == 1
      ? [1] + Self.bigEndian(content.count) + Self.hashes(content) : [kind] + content
    return Array(
      HMAC<SHA256>.authenticationCode(for: Array(SHA256.hash(data: digest)), using: derive("name")))
  }

  /// Of the blocks of 4 KiB of a chunk's content and zeros.
  private static func hashes(_ content: [UInt8]) -> [UInt8] {
    let padded =
      content + [UInt8](repeating: 0, count: padme(max(content.count, 480)) - content.count)
    return stride(from: 0, to: padded.count, by: 4_096).flatMap {
      Array(SHA256.hash(data: padded[$0..<min($0 + 4_096, padded.count)]))
    }
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  func open(name: [UInt8], kind: UInt8, file: [UInt8]) throws -> [UInt8] {
    let header = Array(file.prefix(16))
    let shift: UInt8 = kind == 1 ? 12 : 14
    guard header == [0x4b, 0x56, 0x4f, 0x42, 2, kind, shift, 0] + keyID else {
      throw Refusal(reason: "header")
    }
    let expanded = HKDF<SHA256>.expand(
      pseudoRandomKey: derive("object"),
      info: Array("object".utf8) + name, outputByteCount: 44)
    let bytes = expanded.withUnsafeBytes { Array($0) }
    let key = SymmetricKey(data: bytes[..<32])

    var body: [UInt8] = []
    var rest = file[16...]
    var index: UInt64 = 0
    while !rest.isEmpty {
      let stored = rest.prefix(1 << Int(shift) + 16)
      rest = rest.dropFirst(stored.count)
      var nonce = Array(bytes[32...])
      for byte in 0..<8 { nonce[11 - byte] ^= UInt8(truncatingIfNeeded: index >> UInt64(8 * byte)) }
      let box = try AES.GCM.SealedBox(
        nonce: AES.GCM.Nonce(data: nonce), ciphertext: stored.dropLast(16), tag: stored.suffix(16))
      body += try AES.GCM.open(box, using: key, authenticating: header + [rest.isEmpty ? 1 : 0])
      index += 1
    }
    let length = body.suffix(8).reduce(0) { $0 << 8 | Int($1) }
    let padded = Self.padme(max(length, 480))
    let content = Array(body[..<length])
    let hashes = kind == 1 && padded > 4_096 ? Self.hashes(content) : []
    guard body[padded..<body.count - 8].elementsEqual(hashes),
      body[length..<padded].allSatisfy({ $0 == 0 })
    else { throw Refusal(reason: "padding") }
    guard self.name(kind: kind, content: content) == name else { throw Refusal(reason: "name") }
    return content
  }

  private static func padme(_ length: Int) -> Int {
    var e = 0
    while length >> (e + 1) > 0 { e += 1 }
    var s = 1
    while e >> s > 0 { s += 1 }
    let multiple = 1 << (e - s)
    return (length + multiple - 1) / multiple * multiple
  }
}

@Suite struct IndependentReaderTests {
  @Test(arguments: [
    0, 1, 480, 481, 4_088, 4_089, 4_096, 10_240, 16_375, 16_376, 16_377, 16_384, 100_000, 1 << 20,
  ])
  func opensOurObjects(size: Int) throws {
    let keys = Sample.epochKeys()
    let reader = IndependentReader(
      familyMemberKey: Sample.familyMemberKeyBytes, vault: Sample.vault.bytes,
      member: Sample.member.bytes)
    #expect(reader.keyID == keys.keyID.bytes)
    for kind in [ObjectKind.chunk, .segment] {
      let plaintext = content(size)
      let name = keys.name(kind: kind, content: plaintext)
      #expect(reader.name(kind: kind.rawValue, content: plaintext) == name.bytes)
      let file = keys.seal(name: name, kind: kind, content: plaintext)
      #expect(
        try reader.open(name: name.bytes, kind: kind.rawValue, file: file) == plaintext)
    }
  }
}
