/// The master key under the 24 words. Whether the Argon2id costs are allowed is checked where they are used.
package struct RecoverySlot: Hashable, Sendable {
  package var salt: [UInt8]
  package var passes: UInt32
  package var memoryKiB: UInt32
  package var wrappedMasterKey: [UInt8]
  package var unknown: UnknownFields

  package init(
    salt: [UInt8],
    passes: UInt32,
    memoryKiB: UInt32,
    wrappedMasterKey: [UInt8],
    unknown: UnknownFields = .none
  ) {
    self.salt = salt
    self.passes = passes
    self.memoryKiB = memoryKiB
    self.wrappedMasterKey = wrappedMasterKey
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "recovery slot"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_RecoverySlot) throws(ModelError) {
    salt = try message.salt.bytes(KeySize.salt, "salt")
    passes = message.passes
    memoryKiB = message.memoryKib
    wrappedMasterKey = try message.wrappedMasterKey.bytes(KeySize.wrappedKey, "wrapped master key")
    unknown = message.unknown
  }

  var message: Kinvault_V1_RecoverySlot {
    var message = Kinvault_V1_RecoverySlot()
    message.salt = salt.data
    message.passes = passes
    message.memoryKib = memoryKiB
    message.wrappedMasterKey = wrappedMasterKey.data
    message.unknown = unknown
    return message
  }
}
