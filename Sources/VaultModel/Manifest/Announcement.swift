/// The objects that a device means to remove; the content of an object of that kind.
package struct Announcement: Hashable, Sendable {
  package var names: [ObjectName]
  package var unknown: UnknownFields

  package init(names: [ObjectName], unknown: UnknownFields = .none) {
    self.names = names
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "announcement", limit: Limits.contentBytes(of: .announcement)
    ) { (reader) throws(ModelError) in
      var announcement = Announcement(names: [])
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1): announcement.names.append(try reader.id("name"))
        default: announcement.unknown.append(try reader.skip(tag))
        }
      }
      return announcement
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: names.count * 34)
    for name in names { writer.elementID(1, name) }
    writer.unknown(unknown)
    return writer.bytes
  }
}
