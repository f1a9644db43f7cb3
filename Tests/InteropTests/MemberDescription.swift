/// An item's name: any bytes, in JSON a text or, where they are not UTF-8, `{"hex": …}`.
struct ItemName: Decodable, Equatable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      bytes = Array(text.utf8)
    } else {
      bytes = try Array(hex: decoder.container(keyedBy: Key.self).decode(String.self, forKey: .hex))
    }
  }

  private enum Key: CodingKey { case hex }
}

/// One file of a record, as `2.expected.json` tells it.
struct FileDescription: Decodable, Equatable {
  let name: ItemName
  let mode: UInt64
  let links: Int
  /// Seconds and nanoseconds.
  let modified: [Int64]
  var size: UInt64?
  var sha256: String?
  var target: String?
  var xattrs: [String: String]?
}

struct RecordDescription: Decodable, Equatable {
  let path: [String]
  let mode: UInt64
  let items: [FileDescription]
}

struct MemberDescription: Decodable, Equatable {
  let name: String
  let records: [RecordDescription]
}

extension RecordDescription {
  /// With the items in the order of their names' bytes.
  var sorted: Self {
    Self(
      path: path, mode: mode,
      items: items.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) })
  }
}

extension MemberDescription {
  /// The records by path, for a comparison that tells which record differs.
  var recordsByPath: [[String]: RecordDescription] {
    get throws {
      try Dictionary(records.map { ($0.path, $0.sorted) }) { _, other in
        throw Refused("two records at \(other.path)")
      }
    }
  }
}
