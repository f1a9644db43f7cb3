import Crypto
import Foundation

/// The kinds of object (section 6).
enum ObjectKind: UInt8 {
  case chunk = 1
  case index, page, record, segment, announcement, authored
}

/// Section 6 of the format: opens objects under the keys of one member and epoch.
struct ObjectReader {
  let keyID: [UInt8]
  /// Opens heads.
  let registerKey: [UInt8]
  private let nameKey: [UInt8]
  private let objectKey: [UInt8]

  init(memberKey: [UInt8], member: [UInt8], primitives: Primitives) {
    keyID = Array(primitives.derive(memberKey, "key-id", salt: member).prefix(8))
    registerKey = primitives.derive(memberKey, "register", salt: member)
    nameKey = primitives.derive(memberKey, "name", salt: member)
    objectKey = primitives.derive(memberKey, "object", salt: member)
  }

  /// Under which name an object with this content stands in the vault.
  func name(of digest: [UInt8]) -> [UInt8] {
    Array(
      HMAC<SHA256>.authenticationCode(for: digest, using: SymmetricKey(data: nameKey)))
  }

  /// The content of the object `file`, which is to have this digest.
  func content(of file: [UInt8], digest: [UInt8], kind: ObjectKind) throws -> [UInt8] {
    let name = name(of: digest)
    let header = Array(file.prefix(16))
    let shift: UInt8 = kind == .chunk ? 12 : 14
    try Refused.unless(
      header == Array("KVOB".utf8) + [2, kind.rawValue, shift, 0] + keyID, "an object's header")
    let material = HKDF<SHA256>.expand(
      pseudoRandomKey: SymmetricKey(data: objectKey),
      info: Array("object".utf8) + name, outputByteCount: 44
    ).withUnsafeBytes(Array.init)
    let storedBlockSize = 1 << Int(shift) + 16

    var body: [UInt8] = []
    let stored = file.dropFirst(16)
    let starts = stride(from: stored.startIndex, to: stored.endIndex, by: storedBlockSize)
    for (index, start) in starts.enumerated() {
      let end = min(start + storedBlockSize, stored.endIndex)
      let nonce = zip(material[32...], [0, 0, 0, 0] + UInt64(index).bigEndianBytes).map(^)
      let mark: UInt8 = end == stored.endIndex ? 1 : 0
      body += try openAES(
        stored[start..<end], key: Array(material[..<32]), nonce: nonce,
        additionalData: header + [mark])
    }

    try Refused.unless(body.count >= 8, "an object without a length")
    let length = body.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    try Refused.unless(length <= UInt64(body.count - 8), "an object's length")
    let padded = Self.padded(Int(length))
    try Refused.unless(padded <= body.count - 8, "an object's length")
    let content = Array(body.prefix(Int(length)))
    try Refused.unless(
      body[content.count..<padded].allSatisfy { $0 == 0 }, "an object's padding")
    let hashes = kind == .chunk ? Self.hashes(Array(body.prefix(padded))) : []
    try Refused.unless(
      Array(body[padded..<body.count - 8]) == (hashes.count > 32 ? hashes : []),
      "an object's hashes")
    let found = SHA256.hash(
      data: [kind.rawValue] + (kind == .chunk ? Array(body.suffix(8)) + hashes : content))
    try Refused.unless(Array(found) == digest, "an object's digest")
    return content
  }

  /// Of each 4 KiB of a chunk's content and zeros.
  private static func hashes(_ padded: [UInt8]) -> [UInt8] {
    stride(from: 0, to: padded.count, by: 4_096).flatMap {
      Array(SHA256.hash(data: padded[$0..<min($0 + 4_096, padded.count)]))
    }
  }

  /// Padmé of at least 480.
  static func padded(_ length: Int) -> Int {
    let length = max(length, 480)
    let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
    let mantissa = Int.bitWidth - exponent.leadingZeroBitCount
    let step = 1 << (exponent - mantissa)
    return (length + step - 1) / step * step
  }
}
