/// A statement, register or audit segment as it stands in the vault: a body and a signature, and nothing else.
///
/// Decoding checks the spelling only, of which there is one; who signed what is for the caller to verify. What is
/// signed is `body` as it was stored, never a re-encoding.
package struct SignedFile: Hashable, Sendable {
  package let body: [UInt8]
  /// 64 bytes, of Ed25519.
  package let signature: [UInt8]

  package static let signatureSize = KeySize.signature

  package init(body: [UInt8], signature: [UInt8]) {
    self.body = body
    self.signature = signature
  }

  /// - Throws: `malformed`, `limit` for anything but the bytes that `encoded` gives. Whoever could spell the same
  ///   statement in a second way, without any key, could show two files where one was written.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(bytes, what: "signed file", limit: Limits.signedFileBytes) {
      reader throws(ModelError) in
      guard case .bytes(1) = try reader.next() else { throw reader.malformed("no body") }
      let body = try reader.byteArray()
      guard case .bytes(2) = try reader.next() else { throw reader.malformed("no signature") }
      let file = SignedFile(body: body, signature: try reader.byteArray())
      guard file.signature.count == Self.signatureSize, file.encoded() == bytes else {
        throw reader.malformed(
          "it has more than a body and a signature, or another spelling of them")
      }
      return file
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: body.count + Self.signatureSize + 8)
    writer.element(1, body)
    writer.element(2, signature)
    return writer.bytes
  }
}
