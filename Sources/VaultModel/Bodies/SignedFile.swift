/// A statement, register or audit segment as it stands in the vault.
///
/// Decoding checks sizes only; who signed what is for the caller to verify. What is signed is
/// `body` as it was stored, never a re-encoding.
package struct SignedFile: Hashable, Sendable {
  package var body: [UInt8]
  /// Ed25519.
  package var signature: [UInt8]
  package var unknown: UnknownFields

  package init(
    body: [UInt8],
    signature: [UInt8],
    unknown: UnknownFields = .none
  ) {
    self.body = body
    self.signature = signature
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "signed file"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_SignedFile) throws(ModelError) {
    body = message.body.array
    signature = try message.signature.bytes(KeySize.signature, "signature")
    unknown = message.unknown
  }

  var message: Kinvault_V1_SignedFile {
    var message = Kinvault_V1_SignedFile()
    message.body = body.data
    message.signature = signature.data
    message.unknown = unknown
    return message
  }
}
