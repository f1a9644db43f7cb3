import VaultModel

/// Small objects of one member in one file, so that whoever needs all of them need not ask a remote for each:
/// `Docs/Format.md`, "Packs".
package struct ObjectPack: Hashable, Sendable {
  package struct Object: Hashable, Sendable {
    package var name: ObjectName
    /// The whole file, as it stands under the object's name. Nothing of it is verified.
    package var file: [UInt8]

    package init(name: ObjectName, file: [UInt8]) {
      self.name = name
      self.file = file
    }
  }

  package var objects: [Object]

  package init(_ objects: [Object]) { self.objects = objects }

  /// No pack is larger.
  package static let byteLimit = 8 << 20
  /// What is larger than this is put into no pack: it costs a request of its own.
  package static let objectByteLimit = 16 << 10

  // "KVPK", version 1.
  private static let magic: [UInt8] = [0x4B, 0x56, 0x50, 0x4B, 1, 0, 0, 0]
  private static let headerSize = magic.count + 4
  private static let entrySize = ObjectName.byteCount + 4

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    guard bytes.count <= Self.byteLimit else {
      throw .limit(what: "pack", found: bytes.count, limit: Self.byteLimit)
    }
    guard bytes.starts(with: Self.magic), bytes.count >= Self.headerSize else {
      throw Self.malformed("it does not begin as one")
    }
    let count = Self.number(in: bytes, at: Self.magic.count)
    guard count <= (bytes.count - Self.headerSize) / Self.entrySize else {
      throw Self.malformed("its list is longer than the file")
    }
    objects = []
    objects.reserveCapacity(count)
    var start = Self.headerSize + count * Self.entrySize
    for index in 0..<count {
      let entry = Self.headerSize + index * Self.entrySize
      let length = Self.number(in: bytes, at: entry + ObjectName.byteCount)
      guard let name = ObjectName(bytes[entry..<entry + ObjectName.byteCount]),
        length <= bytes.count - start
      else { throw Self.malformed("an object goes on behind its end") }
      objects.append(Object(name: name, file: Array(bytes[start..<start + length])))
      start += length
    }
    guard start == bytes.count else { throw Self.malformed("something stands behind its objects") }
  }

  package func encoded() -> [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(
      objects.reduce(Self.headerSize) { $0 + Self.entrySize + $1.file.count })
    Self.append(objects.count, to: &bytes)
    for object in objects {
      bytes += object.name.bytes
      Self.append(object.file.count, to: &bytes)
    }
    for object in objects { bytes += object.file }
    return bytes
  }

  private static func number(in bytes: [UInt8], at position: Int) -> Int {
    bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(number).bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func malformed(_ reason: String) -> ModelError {
    .malformed(what: "pack", reason: reason)
  }
}
