/// What the password opens on this machine: `Docs/Format.md` section 14.
///
/// Whether the Argon2id costs are allowed is checked where they are used.
package struct PasswordSlot: Hashable, Sendable {
  static let version: UInt32 = 1

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
  /// SHA-256 of `encodedWithoutChecksum()`; tells a damaged slot from a wrong password. Zeros
  /// until it is computed.
  package var checksum: FileHash
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
    checksum: FileHash = .zero,
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

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "password slot"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  /// What the checksum is computed over.
  package func encodedWithoutChecksum() -> [UInt8] {
    var message = message
    message.checksum = [].data
    return message.canonicalBytes
  }

  init(_ message: Kinvault_V1_PasswordSlot) throws(ModelError) {
    guard message.version == Self.version else {
      throw .unsupported(
        what: "the password slot's version", found: "\(message.version)",
        supported: "\(Self.version)")
    }
    vault = try message.vault.id("vault")
    person = try message.person.id("person")
    device = try message.device.id("device")
    salt = try message.salt.bytes(KeySize.salt, "salt")
    passes = message.passes
    memoryKiB = message.memoryKib
    wrappedUnlockKey = try message.wrappedUnlockKey.bytes(KeySize.wrappedKey, "wrapped unlock key")
    deviceKeys = try Sealed(message.deviceKeys)
    checksum = try message.checksum.id("checksum")
    passwordDevice = try message.passwordDevice.optionalID("password device")
    unknown = message.unknown
  }

  var message: Kinvault_V1_PasswordSlot {
    var message = Kinvault_V1_PasswordSlot()
    message.version = Self.version
    message.vault = vault.data
    message.person = person.data
    message.device = device.data
    message.salt = salt.data
    message.passes = passes
    message.memoryKib = memoryKiB
    message.wrappedUnlockKey = wrappedUnlockKey.data
    message.deviceKeys = deviceKeys.message
    message.checksum = checksum.data
    message.passwordDevice = passwordDevice?.data ?? [].data
    message.unknown = unknown
    return message
  }
}
