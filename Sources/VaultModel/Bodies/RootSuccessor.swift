/// A root key that took the place of the one before it: the person has new words.
package struct RootSuccessor: Hashable, Sendable {
  /// Ed25519.
  package var rootPublicKey: [UInt8]
  /// By the root key before.
  package var signature: [UInt8]
  /// Milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    rootPublicKey: [UInt8],
    signature: [UInt8],
    time: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.rootPublicKey = rootPublicKey
    self.signature = signature
    self.time = time
    self.unknown = unknown
  }

  init(_ message: Kinvault_V1_RootSuccessor) throws(ModelError) {
    rootPublicKey = try message.rootPublicKey.bytes(KeySize.publicKey, "root public key")
    signature = try message.signature.bytes(KeySize.signature, "signature of a root key")
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_RootSuccessor {
    var message = Kinvault_V1_RootSuccessor()
    message.rootPublicKey = rootPublicKey.data
    message.signature = signature.data
    message.time = time
    message.unknown = unknown
    return message
  }
}
