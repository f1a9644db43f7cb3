import Crypto
import Foundation

/// Section 14 of the format: the slot that a password opens on one machine.
struct DeviceSlot {
  private let primitives: Primitives
  private let slot: WireMessage
  private let password: [UInt8]

  /// - Parameter state: The folder of the machine's state, among the fixture's secrets.
  init(vault: FrozenVault, state: String = "state") throws {
    primitives = vault.primitives
    let file = try vault.secret("\(state)/\(primitives.vault.hex)/slot")
    slot = try WireMessage(file)
    // The checksum is the last field: a tag, a length and 32 bytes.
    try Refused.unless(try Array(file.dropLast(34)).sha256 == slot.bytes(10), "the slot's checksum")
    password = Array(try vault.secretLine("password").utf8)
  }

  /// Whose machine it is.
  var person: [UInt8] { get throws { try slot.bytes(3) } }

  var device: [UInt8] { get throws { try slot.bytes(4) } }

  /// The master key of one of the person's generations: password, device unlock key, device keys, wrap.
  func masterKey(
    generation: [UInt8], certificate: WireMessage, in vault: FrozenVault
  ) throws -> [UInt8] {
    let person = try slot.bytes(3)
    let device = try slot.bytes(4)
    let stretched = try argon2id(
      password, salt: slot.bytes(5), passes: slot.number(6), memoryKiB: slot.number(7))
    let unlockKey = try unwrap(
      try slot.bytes(8),
      with: primitives.derive(stretched, "password-kek", context: person + device))
    let keys = try primitives.opened(
      try slot.message(9), key: unlockKey, label: "slot", path: "slot/\(device.hex)", counter: 0)

    let signing = try Curve25519.Signing.PrivateKey(rawRepresentation: try keys.bytes(1))
    try Refused.unless(
      try Array(signing.publicKey.rawRepresentation) == certificate.bytes(3), "the signing key")
    let wrap = try vault.file("people/\(person.hex)/wraps/\(generation.hex)/\(device.hex)")
    return try primitives.unwrapped(
      wrap, try keys.bytes(2), try certificate.bytes(4), "device-wrap",
      context: person + generation + device)
  }
}
