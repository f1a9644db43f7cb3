/// What the device unlock key opens on this machine: `Docs/Format.md` section 14, `device`.
package struct DeviceFile: Hashable, WireMessage {
  static let version: UInt64 = 1

  package var vault: VaultID
  package var person: PersonID
  package var device: DeviceID
  /// `DeviceKeys` under the device unlock key.
  package var deviceKeys: Sealed
  /// SHA-256 of `encodedWithoutChecksum()`; nil until it is computed.
  package var checksum: FileHash?
  package var unknown: UnknownFields

  package init(
    vault: VaultID, person: PersonID, device: DeviceID, deviceKeys: Sealed,
    checksum: FileHash? = nil, unknown: UnknownFields = .none
  ) {
    self.vault = vault
    self.person = person
    self.device = device
    self.deviceKeys = deviceKeys
    self.checksum = checksum
    self.unknown = unknown
  }

  package static let what: StaticString = "device file"
  package static let blank = DeviceFile(
    vault: .zero, person: .zero, device: .zero, deviceKeys: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.version(1, Self.version, of: "a device file of version")
    try fields.id(2, &vault, "vault")
    try fields.id(3, &person, "person")
    try fields.id(4, &device, "device")
    try fields.message(5, &deviceKeys)
    try fields.id(6, &checksum, "checksum")
    fields.unknown(&unknown)
  }
}

/// A file of this machine's state that says by a checksum of its own whether it is as it was written, so that a wrong
/// password is never blamed for a broken disk, nor the other way round.
package protocol ChecksummedMessage: WireMessage {
  var vault: VaultID { get }
  var checksum: FileHash? { get set }
}

extension ChecksummedMessage {
  /// What the checksum is computed over.
  package func encodedWithoutChecksum() -> [UInt8] {
    var message = self
    message.checksum = nil
    return message.encoded()
  }
}

extension DeviceFile: ChecksummedMessage {}
extension UnlockSlot: ChecksummedMessage {}

extension FieldVisitor {
  /// The number of a version that this program must know.
  mutating func version(
    _ field: Int, _ supported: UInt64, of what: StaticString
  ) throws(ModelError) {
    var version = supported
    try number(field, &version, "version") { found in
      switch found {
      case supported: nil
      // No program writes that: the file is empty or torn, as a power cut may leave it.
      case 0: .malformed(what: "the file", reason: "it has no version")
      default: .unsupported(what: "\(what)", found: "\(found)", supported: "\(supported)")
      }
    }
  }
}
