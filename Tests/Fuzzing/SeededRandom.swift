import VaultModel

/// Random numbers that are the same in every run: SplitMix64.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  package mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  package mutating func bool() -> Bool { Bool.random(using: &self) }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  package mutating func id<ID: FixedBytes>() -> ID {
    guard let id = ID(bytes(ID.byteCount)) else { preconditionFailure("the count fits") }
    return id
  }

  package mutating func time() -> HybridTime {
    HybridTime(milliseconds: UInt64(number(below: 5)), counter: UInt16(number(below: 2)))
  }

  package mutating func content() -> (size: UInt64, Item.Content) {
    switch number(below: 5) {
    case 0: return (0, .none)
    case 1:
      let bytes = bytes(1 + number(below: 40))
      return (UInt64(bytes.count), .inline(bytes))
    case 2: return (3, .symlink(Array("abc".utf8)))
    case 3: return (UInt64(17 + number(below: 3)) << 20, .indexes([id()]))
    default:
      let names: [ContentDigest?] = (0..<1 + number(below: 3)).map { _ in bool() ? id() : nil }
      return (UInt64(names.count) << 20, .chunks(names))
    }
  }

  package mutating func item(named name: FileName) -> Item {
    let (size, content) = content()
    return Item(
      name: name, file: id(), size: size, mode: 0o100644,
      modified: FileTimestamp(seconds: -5, nanoseconds: 999_999_999), mediaType: "image/jpeg",
      content: content, time: time(),
      xattrs: bool() ? [Xattr(name: Array("user.a".utf8), value: bytes(3))] : [],
      linkRecords: bool() ? [id()] : [], owner: Owner(uid: 7, gid: nil),
      fileTime: bool() ? HybridTime(milliseconds: 1 + UInt64(number(below: 4))) : nil)
  }

  package mutating func entry(
    record: RecordID? = nil, parent: RecordID = .root, title: String? = nil,
    devices: [DeviceID]
  ) throws -> RecordEntry {
    var version = VersionVector()
    for device in devices { version[device] = UInt64(number(below: 4)) }
    return RecordEntry(
      record: record ?? id(), parent: parent,
      title: try fileName(title ?? "2024-05-06 visit \(number(below: 99))"),
      type: "visit", date: "2024-05-06", revision: id(), version: version, time: time(),
      device: devices[number(below: devices.count)], isDeleted: number(below: 8) == 0,
      modified: FileTimestamp(seconds: 5, nanoseconds: 6), owner: Owner(uid: nil, gid: 1_000))
  }
}

/// The name; throws when the test's text is not one.
package func fileName(_ text: String) throws -> FileName {
  guard let name = FileName(text) else { throw ModelError.malformed(what: text, reason: "test") }
  return name
}
