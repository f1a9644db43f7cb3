/// What the password opens on this machine: `Docs/Format.md` section 14.
///
/// Whether the Argon2id costs are allowed is checked where they are used.
package struct PasswordSlot: Hashable, WireMessage {
  static let version: UInt64 = 1

  package var vault: VaultID
  package var person: PersonID
  package var device: DeviceID
  package var salt: [UInt8]
  package var passes: UInt32
  package var memoryKiB: UInt32
  /// The device unlock key under the password KEK.
  package var wrappedUnlockKey: [UInt8]
  /// `DeviceKeys` under the device unlock key.
  package var deviceKeys: Sealed
  /// SHA-256 of `encodedWithoutChecksum()`; tells a damaged slot from a wrong password. Nil until it is computed.
  package var checksum: FileHash?
  /// The device whose id the password KEK is bound to, where that is another than `device`: this machine was that one
  /// before it became a device of its own.
  package var passwordDevice: DeviceID?
  package var unknown: UnknownFields

  package init(
    vault: VaultID,
    person: PersonID,
    device: DeviceID,
    salt: [UInt8],
    passes: UInt32,
    memoryKiB: UInt32,
    wrappedUnlockKey: [UInt8],
    deviceKeys: Sealed,
    checksum: FileHash? = nil,
    passwordDevice: DeviceID? = nil,
    unknown: UnknownFields = .none
  ) {
    self.vault = vault
    self.person = person
    self.device = device
    self.salt = salt
    self.passes = passes
    self.memoryKiB = memoryKiB
    self.wrappedUnlockKey = wrappedUnlockKey
    self.deviceKeys = deviceKeys
    self.checksum = checksum
    self.passwordDevice = passwordDevice
    self.unknown = unknown
  }

  /// What the checksum is computed over.
  package func encodedWithoutChecksum() -> [UInt8] {
    var slot = self
    slot.checksum = nil
    return slot.encoded()
  }

  package static let what: StaticString = "password slot"
  package static let blank = PasswordSlot(
    vault: .zero, person: .zero, device: .zero, salt: [], passes: 0, memoryKiB: 0,
    wrappedUnlockKey: [], deviceKeys: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    var version = Self.version
    try fields.number(1, &version, "version") { found in
      found == Self.version
        ? nil
        : .unsupported(
          what: "the password slot's version", found: "\(found)", supported: "\(Self.version)")
    }
    try fields.id(2, &vault, "vault")
    try fields.id(3, &person, "person")
    try fields.id(4, &device, "device")
    try fields.bytes(5, &salt, "salt", exactly: KeySize.salt)
    try fields.number(6, &passes, "passes")
    try fields.number(7, &memoryKiB, "memory")
    try fields.bytes(8, &wrappedUnlockKey, "wrapped unlock key", exactly: KeySize.wrappedKey)
    try fields.message(9, &deviceKeys)
    try fields.id(10, &checksum, "checksum")
    try fields.id(11, &passwordDevice, "password device")
    fields.unknown(&unknown)
  }
}
