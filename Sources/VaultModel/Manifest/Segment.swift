/// A piece of a manifest: record entries, and a table of the devices that they name.
///
/// The content of an object of kind `segment`; `Docs/Format.md` section 9. 100,000 entries pass
/// through here whenever a vault is opened, so the messages are read by `WireReader`.
package struct Segment: Hashable, Sendable {
  package var entries: [RecordEntry]
  package var unknown: UnknownFields

  package init(entries: [RecordEntry], unknown: UnknownFields = .none) {
    self.entries = entries
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "segment", limit: Limits.contentBytes(of: .segment), Segment.decode)
  }

  private static func decode(_ reader: inout WireReader) throws(ModelError) -> Segment {
    // The table may stand after the entries that use it, so it is read in a pass of its own.
    let (devices, entryCount) = try devices(reader)
    var segment = Segment(entries: [])
    segment.entries.reserveCapacity(entryCount)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): _ = try reader.skip(tag)
      case .bytes(2):
        segment.entries.append(
          try RecordEntry.decode(reader.message("record entry"), devices: devices))
      default: segment.unknown.append(try reader.skip(tag))
      }
    }
    return segment
  }

  private static func devices(
    _ reader: WireReader
  ) throws(ModelError) -> (table: [DeviceID], entryCount: Int) {
    var reader = reader
    var devices: [DeviceID] = []
    var entryCount = 0
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1):
        devices.append(try reader.id("device"))
        continue
      case .bytes(2): entryCount += 1
      default: break
      }
      _ = try reader.skip(tag)
    }
    return (devices, entryCount)
  }

  package func encoded() -> [UInt8] {
    let table = DeviceTable(of: entries)
    var writer = WireWriter(capacity: entries.count * 192)
    for device in table.devices { writer.elementID(1, device) }
    for entry in entries {
      writer.message(2) { entry.encode(to: &$0, devices: table) }
    }
    writer.unknown(unknown)
    return writer.bytes
  }
}
