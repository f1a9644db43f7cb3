import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel

/// What this machine still has to write anew of one member, since it goes on as a device of its own: what it wrote as
/// the one that it was before. Docs/Format.md, "Lines" and "This machine's state".
struct Parting: Hashable, Sendable {
  /// The device that it was.
  var from: DeviceID
  /// The counter of the last head that both lines of that device share.
  var above: UInt64

  private static let title = "kinvault parting 1"
  private static let byteLimit = 4 << 10

  private static func path(of member: MemberID) -> BlobPath {
    BlobPath("partings").appending(member.hex)
  }

  static func load(of member: MemberID, state: StateFolder) throws(VaultError) -> Parting? {
    let path = path(of: member)
    guard let bytes = try state.readIfThere(path, limit: byteLimit) else { return nil }
    guard let parting = Parting(decoding: bytes) else {
      throw .damaged(path: state.describe(path), reason: "its checksum is wrong")
    }
    return parting
  }

  /// On disk when it returns.
  func store(of member: MemberID, state: StateFolder) throws(VaultError) {
    let bytes = ChecksummedLines.encode(
      title: Self.title, ["from \(from.hex)", "above \(above)"])
    try storing(state.store.replace(Self.path(of: member), bytes, durably: true))
  }

  static func remove(of member: MemberID, state: StateFolder) throws(VaultError) {
    try storing(state.store.remove(path(of: member)))
  }

  private init?(decoding bytes: [UInt8]) {
    let lines = ChecksummedLines(decoding: bytes, title: Self.title)
    guard let values = lines?.values(of: "from", "above"),
      let from = DeviceID(hex: values[0]), let above = UInt64(values[1])
    else { return nil }
    (self.from, self.above) = (from, above)
  }

  init(from: DeviceID, above: UInt64) { (self.from, self.above) = (from, above) }
}

/// The keys of the device that this machine is about to become: kept from before anything of it is written, so that
/// whatever interrupts it, there is one such device.
struct NextDevice: Sendable {
  let device: DeviceID
  /// Its `DeviceKeys` under the device unlock key, as they will stand in the slot.
  let keys: Sealed

  private static let title = "kinvault next device 1"
  private static let path: BlobPath = "next-device"
  private static let byteLimit = 4 << 10

  static func load(state: StateFolder) throws(VaultError) -> NextDevice? {
    guard let bytes = try state.readIfThere(path, limit: byteLimit) else { return nil }
    // It is written at once and durably, so what does not hold was never used.
    return NextDevice(decoding: bytes)
  }

  /// On disk when it returns.
  func store(state: StateFolder) throws(VaultError) {
    let bytes = ChecksummedLines.encode(
      title: Self.title,
      ["device \(device.hex)", "keys \(keys.words)"])
    try storing(state.store.replace(Self.path, bytes, durably: true))
  }

  static func remove(state: StateFolder) throws(VaultError) {
    try storing(state.store.remove(path))
  }

  init(device: DeviceID, keys: Sealed) { (self.device, self.keys) = (device, keys) }

  private init?(decoding bytes: [UInt8]) {
    let lines = ChecksummedLines(decoding: bytes, title: Self.title)
    guard let values = lines?.values(of: "device", "keys"),
      let device = DeviceID(hex: values[0]),
      let keys = Sealed(words: values[1])
    else { return nil }
    (self.device, self.keys) = (device, keys)
  }
}
