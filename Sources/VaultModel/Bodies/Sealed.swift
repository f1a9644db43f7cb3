/// A value sealed with AES-256-GCM.
package struct Sealed: Hashable, Sendable {
  /// 12 bytes, random.
  package var nonce: [UInt8]
  /// Ends with the 16 bytes of the tag.
  package var ciphertext: [UInt8]
  package var unknown: UnknownFields

  package init(
    nonce: [UInt8],
    ciphertext: [UInt8],
    unknown: UnknownFields = .none
  ) {
    self.nonce = nonce
    self.ciphertext = ciphertext
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "sealed value"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_Sealed) throws(ModelError) {
    guard message.ciphertext.count >= KeySize.tag else {
      throw .malformed(what: "sealed value", reason: "it is shorter than its tag")
    }
    nonce = try message.nonce.bytes(KeySize.nonce, "nonce")
    ciphertext = message.ciphertext.array
    unknown = message.unknown
  }

  var message: Kinvault_V1_Sealed {
    var message = Kinvault_V1_Sealed()
    message.nonce = nonce.data
    message.ciphertext = ciphertext.data
    message.unknown = unknown
    return message
  }
}
