import Crypto
import Foundation

/// Section 14 of the format: one machine's keys, and the slot that a password opens there.
struct DeviceSlot {
  private let primitives: Primitives
  private let device: WireMessage
  private let slot: WireMessage
  private let password: [UInt8]

  /// - Parameter state: The folder of the machine's state, among the fixture's secrets.
  init(vault: FrozenVault, state: String = "state") throws {
    primitives = vault.primitives
    let folder = "\(state)/\(primitives.vault.hex)"
    device = try Self.checked(vault.secret("\(folder)/device"), checksum: 6)
    let slots = try vault.secretNames("\(folder)/slots")
    try Refused.unless(slots.count == 1, "one slot")
    slot = try Self.checked(vault.secret("\(folder)/slots/\(slots[0])"), checksum: 8)
    try Refused.unless(try slot.bytes(3).hex == slots[0], "the slot's name")
    password = Array(try vault.secretLine("password").utf8)
  }

  /// The message of a file whose checksum is its last field: a tag, a length and 32 bytes.
  private static func checked(_ file: [UInt8], checksum: UInt64) throws -> WireMessage {
    let message = try WireMessage(file)
    try Refused.unless(
      try Array(file.dropLast(34)).sha256 == message.bytes(checksum), "the checksum")
    return message
  }

  /// Whose machine it is.
  var person: [UInt8] { get throws { try device.bytes(3) } }

  var deviceID: [UInt8] { get throws { try device.bytes(4) } }

  /// The master key of one of the person's generations: password, device unlock key, device keys, wrap.
  func masterKey(
    generation: [UInt8], certificate: WireMessage, in vault: FrozenVault
  ) throws -> [UInt8] {
    let person = try self.person
    let device = try deviceID
    // One part, a password.
    let part = try slot.message(7)
    try Refused.unless(try part.number(1) == 1, "the kind of the slot's part")
    let stretched = try argon2id(
      password, salt: part.bytes(2), passes: part.number(3), memoryKiB: part.number(4))
    let unlockKey = try unwrap(
      try slot.bytes(6),
      with: primitives.derive(stretched, "slot-kek", context: slot.bytes(3) + [1]))
    let keys = try primitives.opened(
      try self.device.message(5), key: unlockKey, label: "device-keys",
      path: "device/\(device.hex)", counter: 0)

    let signing = try Curve25519.Signing.PrivateKey(rawRepresentation: try keys.bytes(1))
    try Refused.unless(
      try Array(signing.publicKey.rawRepresentation) == certificate.bytes(3), "the signing key")
    let wrap = try vault.file("people/\(person.hex)/wraps/\(generation.hex)/\(device.hex)")
    return try primitives.unwrapped(
      wrap, try keys.bytes(2), try certificate.bytes(4), "device-wrap",
      context: person + generation + device)
  }
}
