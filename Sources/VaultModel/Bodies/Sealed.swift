/// A value sealed with AES-256-GCM.
package struct Sealed: Hashable, WireMessage {
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

  package static let what: StaticString = "sealed value"
  package static let blank = Sealed(nonce: [], ciphertext: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.bytes(1, &nonce, "nonce", exactly: KeySize.nonce)
    // Not shorter than its tag.
    try fields.bytes(2, &ciphertext, "ciphertext", counts: KeySize.tag...Limits.signedFileBytes)
    fields.unknown(&unknown)
  }
}
