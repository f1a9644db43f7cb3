/// A piece of a manifest: record entries, and a table of the devices that they name.
///
/// The content of an object of kind `segment`; `Docs/Format.md` section 9. 100,000 entries pass
/// through here whenever a vault is opened, so the messages are read by `WireReader`.
package struct Segment: Hashable, Sendable {
  package var entries: [RecordEntry]
  /// Heads that its writer wrote before the one that names it first; nil in a segment that says nothing of them.
  package var lineage: SegmentLineage?
  package var unknown: UnknownFields

  package init(
    entries: [RecordEntry], lineage: SegmentLineage? = nil, unknown: UnknownFields = .none
  ) {
    self.entries = entries
    self.lineage = lineage
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
    var (writer, marks): (DeviceID?, [HeadMark]) = (nil, [])
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): _ = try reader.skip(tag)
      case .bytes(2):
        segment.entries.append(
          try RecordEntry.decode(reader.message("record entry"), devices: devices))
      case .bytes(3): writer = try reader.id("writer")
      case .bytes(4):
        guard let found = SegmentLineage.marks(try reader.bytesInPlace()) else {
          throw reader.malformed("the lineage is cut short")
        }
        marks = found
      default: segment.unknown.append(try reader.skip(tag))
      }
    }
    segment.lineage = writer.map { SegmentLineage(device: $0, marks: marks) }
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
    if let lineage {
      writer.id(3, lineage.device)
      writer.bytes(4, lineage.encodedMarks)
    }
    writer.unknown(unknown)
    return writer.bytes
  }
}
