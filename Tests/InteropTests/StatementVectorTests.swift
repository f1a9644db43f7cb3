import Crypto
import Foundation
import Testing

/// Statements of format 2 (Docs/Format.md, section 17), with swift-crypto alone: ids, keys and
/// signatures are what the document says.
@Suite struct StatementVectorTests {
  private static let vault = [UInt8](0..<16)

  @Test func frozenStatementsAreSignedAsTheDocumentSays() throws {
    var rootKeys: [[UInt8]: [UInt8]] = [:]
    var deviceKeys: [[UInt8]: [UInt8]] = [:]
    let files = try Self.lines().filter { $0[0] == "file" }
    #expect(files.count == 15)
    for line in files {
      let envelope = try WireMessage(try Self.bytes(line[2]))
      let body = try envelope.bytes(1)
      let fields = try WireMessage(body)
      let message = Self.message(line[1], body)
      let id = [UInt8](SHA256.hash(data: message))
      let key: [UInt8]?
      switch line[1] {
      case "closing":
        key = try fields.bytes(3)
        rootKeys[id] = key
        for endorsement in try fields.all(4).map(WireMessage.init) {
          let old = try endorsement.bytes(1)
          let endorsed = Self.message("successor", try fields.bytes(1) + old + fields.bytes(3))
          #expect(try Self.isSigned(endorsed, try endorsement.bytes(2), old))
        }
      case "certificate":
        let own = try fields.bytes(3)
        let approver = try fields.bytes(6)
        key = approver.isEmpty ? rootKeys[try fields.bytes(2)] : deviceKeys[approver]
        deviceKeys[id] = own
        let named = Array("kinvault device".utf8) + [0] + own + (try fields.bytes(4))
        let device = [UInt8](SHA256.hash(data: named))
        let consent = Self.message("device", try fields.bytes(1) + device)
        #expect(try Self.isSigned(consent, try fields.bytes(5), own))
      case "root": key = deviceKeys[try fields.bytes(2)]
      default: key = deviceKeys[try fields.bytes(3)]
      }
      #expect(
        try Self.isSigned(message, try envelope.bytes(2), try #require(key)), "\(line[1])")
    }
  }

  private static func lines() throws -> [[String]] {
    let file = FrozenVault.fixtures.deletingLastPathComponent()
      .appending(path: "statements/format-2")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
  }

  private static func message(_ label: String, _ body: [UInt8]) -> [UInt8] {
    Array("kinvault/2/\(label)".utf8) + [0] + vault + body
  }

  private static func isSigned(
    _ message: [UInt8], _ signature: [UInt8], _ key: [UInt8]
  ) throws -> Bool {
    try Curve25519.Signing.PublicKey(rawRepresentation: key)
      .isValidSignature(signature, for: message)
  }

  private static func bytes(_ hex: String) throws -> [UInt8] {
    let digits = Array(hex.utf8)
    return try stride(from: 0, to: digits.count, by: 2).map { index in
      let text = String(decoding: digits[index..<index + 2], as: UTF8.self)
      return try #require(UInt8(text, radix: 16))
    }
  }
}
