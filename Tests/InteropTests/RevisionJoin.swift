/// The bytes of the join of two revisions, by section 10 of the format.
struct RevisionJoin {
  /// A revision that is a part of a join.
  struct Part {
    let digest: [UInt8]
    let fields: RawMessage
    let message: WireMessage
    /// Every item but `record.md`, as it is encoded.
    let items: [[UInt8]]

    /// What decides which of two is later.
    fileprivate func isLater(than other: Part) throws -> Bool {
      let times = (try message.number(5), try other.message.number(5))
      if times.0 != times.1 { return times.0 > times.1 }
      return isLess(try other.message.bytes(6), try message.bytes(6))
    }
  }

  let bytes: [UInt8]

  init(_ a: Part, _ b: Part) throws {
    let later = try a.isLater(than: b) ? a : b
    let place = try Self.group([2, 3, 8], at: 15, a, b)
    let attributes = try Self.group([9, 10, 11, 16, 17], at: 18, a, b)
    let unknown = try Self.later(
      try a.message.number(5), a.fields.bytes { $0 > 20 },
      try b.message.number(5), b.fields.bytes { $0 > 20 })
    let names = [a.digest, b.digest].sorted(by: isLess)
    let document = try Self.joined(
      a.fields.values(12) + b.fields.values(12))
    let items = ItemPages(try Self.joined(a.items + b.items))
    var bytes = a.fields.bytes(1) + place.bytes(2, 3)
    bytes += try Self.version(a, b)
    bytes += later.fields.bytes(5, 6)
    for name in names { bytes += RawMessage.field(7, name) }
    bytes += place.bytes(8) + attributes.bytes(9, 10, 11)
    for item in document { bytes += RawMessage.field(12, item) }
    bytes += items.field
    bytes += place.bytes(15) + attributes.bytes(16, 17) + attributes.bytes(18) + unknown
    self.bytes = bytes
  }

  /// The fields that change together, of the revision where they changed last.
  private static func group(
    _ numbers: [UInt64], at time: UInt64, _ a: Part, _ b: Part
  ) throws -> RawMessage {
    let bytes = [a, b].map { part in part.fields.bytes { numbers.contains($0) } }
    let times = (try a.message.number(time), try b.message.number(time))
    let takesA = times.0 == times.1 ? !isLess(bytes[0], bytes[1]) : times.0 > times.1
    return takesA ? a.fields : b.fields
  }

  private static func later(
    _ aTime: UInt64, _ a: [UInt8], _ bTime: UInt64, _ b: [UInt8]
  ) throws -> [UInt8] {
    aTime == bTime ? [a, b].max(by: isLess) ?? a : aTime > bTime ? a : b
  }

  /// The maximum of both, by devices.
  private static func version(_ a: Part, _ b: Part) throws -> [UInt8] {
    var version: [[UInt8]: UInt64] = [:]
    for entry in try a.message.messages(4) + b.message.messages(4) {
      version[try entry.bytes(1)] = max(version[try entry.bytes(1)] ?? 0, try entry.number(2))
    }
    return version.sorted { isLess($0.key, $1.key) }.flatMap {
      RawMessage.field(4, RawMessage.field(1, $0.key) + RawMessage.number(2, $0.value))
    }
  }

  /// Of each name the item that counts.
  private static func joined(_ items: [[UInt8]]) throws -> [[UInt8]] {
    var byName: [[UInt8]: [UInt8]] = [:]
    for item in items {
      let name = try WireMessage(item).bytes(1)
      byName[name] = try byName[name].map { try joined($0, item) } ?? item
    }
    return byName.sorted { isLess($0.key, $1.key) }.map(\.value)
  }

  private static func joined(_ a: [UInt8], _ b: [UInt8]) throws -> [UInt8] {
    if a == b { return a }
    let rank = try [a, b].map { item in
      let message = try WireMessage(item)
      let time = try message.number(10)
      return (
        time, try message.has(17) ? message.number(17) : time,
        try RawMessage(item).bytes { $0 != 13 }
      )
    }
    let (one, other) = (rank[0], rank[1])
    let takesB =
      one.0 != other.0
      ? one.0 < other.0 : one.1 != other.1 ? one.1 < other.1 : isLess(one.2, other.2)
    let records = Set(try RawMessage(a).values(13) + RawMessage(b).values(13)).sorted(by: isLess)
    let fields = try RawMessage(takesB ? b : a)
    return fields.bytes { $0 < 13 } + records.flatMap { RawMessage.field(13, $0) }
      + fields.bytes { $0 > 13 }
  }
}

/// The canonical tree of a record's items (section 8), as far as a revision holds it.
struct ItemPages {
  /// Field 13, field 14, or nothing.
  let field: [UInt8]

  /// - Parameter items: Sorted by name.
  init(_ items: [[UInt8]]) {
    let leaf = Self.leaf(items)
    if items.isEmpty {
      field = []
    } else if items.count <= 32, leaf.count <= 512 {
      field = RawMessage.field(13, leaf)
    } else {
      let hashed = items.map { (item: $0, hash: Self.hash(of: $0)) }
      field = RawMessage.field(14, Self.page(hashed, depth: 0))
    }
  }

  private static func leaf(_ items: [[UInt8]]) -> [UInt8] {
    items.flatMap { RawMessage.field(1, $0) }
  }

  /// The digest of the page that holds these.
  private static func page(_ items: [(item: [UInt8], hash: UInt64)], depth: UInt64) -> [UInt8] {
    if items.isEmpty { return [] }
    let content =
      items.count <= 32 || depth == 16
      ? leaf(items.map(\.item))
      : (0..<16).flatMap { child in
        RawMessage.field(
          2, page(items.filter { $0.hash >> (60 - 4 * depth) & 15 == child }, depth: depth + 1))
      }
    return ([ObjectKind.page.rawValue] + content).sha256
  }

  private static func hash(of item: [UInt8]) -> UInt64 {
    MemberReader.hash((try? WireMessage(item).bytes(1)) ?? [])
  }
}

func isLess(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }
