/// The master key under the 24 words. Whether the Argon2id costs are allowed is checked where they are used.
package struct RecoverySlot: Hashable, WireMessage {
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

  package static let what: StaticString = "recovery slot"
  package static let blank = RecoverySlot(salt: [], passes: 0, memoryKiB: 0, wrappedMasterKey: [])

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.bytes(1, &salt, "salt", exactly: KeySize.salt)
    try fields.number(2, &passes, "passes")
    try fields.number(3, &memoryKiB, "memory")
    try fields.bytes(4, &wrappedMasterKey, "wrapped master key", exactly: KeySize.wrappedKey)
    fields.unknown(&unknown)
  }
}
