import Foundation

/// Sections 7 to 9 of the format: a member's manifest, records, item trees and contents.
struct MemberReader {
  let vault: FrozenVault
  let member: String
  let objects: ObjectReader
  let access: Access
  let heads: [MemberHead]
  /// How far counters have come.
  let counters: Counters

  /// Nil when the person may not read the member.
  init?(_ member: String, of vault: FrozenVault, as person: Person) throws {
    let access = try Access(member, in: vault, people: try vault.people())
    guard let objects = try access.objects(of: person, in: access.current) else { return nil }
    (self.vault, self.member, self.objects) = (vault, member, objects)
    self.access = access
    heads = try access.heads(objects)
    counters = try access.counters(heads)
  }

  func object(_ digest: [UInt8], _ kind: ObjectKind) throws -> [UInt8] {
    try Refused.unless(digest.count == 32, "a digest of \(digest.count) bytes")
    return try objects.content(of: try vault.file(path(of: digest)), digest: digest, kind: kind)
  }

  func path(of digest: [UInt8]) -> String {
    let name = objects.name(of: digest)
    return "members/\(member)/objects/\(name.hex.prefix(2))/\(name.hex.dropFirst(2))"
  }

  /// Whether the object is here, under the keys in use.
  func has(_ digest: [UInt8]) -> Bool { vault.has(path(of: digest)) }

  /// The entries of the manifest by record, tombstones left out.
  func entries() throws -> [[UInt8]: WireMessage] {
    try allEntries().filter { try $0.value.number(9) == 0 }
  }

  /// All of them that do not wait: of what several heads say, what dominates.
  func allEntries() throws -> [[UInt8]: WireMessage] {
    var joined: [[UInt8]: Entry] = [:]
    for head in heads {
      for (record, new) in try entries(of: head) where !counters.holdUp(new.version) {
        guard let known = joined[record] else {
          joined[record] = new
          continue
        }
        if try Self.dominates(new, known) {
          joined[record] = new
        } else {
          try Refused.unless(try Self.dominates(known, new), "a conflict")
        }
      }
    }
    return joined.mapValues(\.entry)
  }

  typealias Entry = (entry: WireMessage, version: [[UInt8]: UInt64])

  /// What a head says of each record.
  func entries(of head: MemberHead) throws -> [[UInt8]: Entry] {
    var entries: [[UInt8]: Entry] = [:]
    for digest in try head.body.all(1) + head.body.all(2) {
      let segment = try WireMessage(try object(digest, .segment))
      let devices = try segment.all(1)
      for entry in try segment.messages(2) {
        let version = try version(of: entry, devices)
        try requireTruth(of: entry, version, devices)
        entries[try entry.bytes(1)] = (entry, version)
      }
    }
    return entries
  }

  /// That an entry says what its revision says, as far as that is kept: then whose head it is in does not matter.
  private func requireTruth(
    of entry: WireMessage, _ version: [[UInt8]: UInt64], _ devices: [[UInt8]]
  ) throws {
    let digest = try entry.bytes(6)
    guard has(digest) else { return }
    let revision = try WireMessage(try object(digest, .record))
    let written = Dictionary(
      try revision.messages(4).map { (try $0.bytes(1), try $0.number(2)) }, uniquingKeysWith: max)
    for field: UInt64 in 1...3 {
      try Refused.unless(try entry.bytes(field) == revision.bytes(field), "what \(field) says")
    }
    for (field, other): (UInt64, UInt64) in [(8, 5), (9, 8), (10, 9), (14, 16), (15, 17)] {
      try Refused.unless(try entry.number(field) == revision.number(other), "what \(field) says")
    }
    try Refused.unless(try entry.bytes(11) == revision.bytes(10), "when it was modified")
    try Refused.unless(version == written, "a version vector")
    let device = try entry.number(12)
    try Refused.unless(device < UInt64(devices.count), "a device of an entry")
    try Refused.unless(try devices[Int(device)] == revision.bytes(6), "whose an entry is")
  }

  private func version(
    of entry: WireMessage, _ devices: [[UInt8]]
  ) throws -> [[UInt8]: UInt64] {
    let pairs = try entry.numbers(7)
    try Refused.unless(pairs.count.isMultiple(of: 2), "a version vector")
    var version: [[UInt8]: UInt64] = [:]
    for index in stride(from: 0, to: pairs.count, by: 2) {
      try Refused.unless(pairs[index] < UInt64(devices.count), "a device of a version vector")
      version[devices[Int(pairs[index])]] = pairs[index + 1]
    }
    return version
  }

  /// Whether it names the other one's revision, or no counter is lower.
  private static func dominates(_ one: Entry, _ other: Entry) throws -> Bool {
    func names(_ version: [[UInt8]: UInt64], _ entry: WireMessage) throws -> Bool {
      let digest = try entry.bytes(6)
      return version[[UInt8](repeating: 0, count: 8) + digest.prefix(24)] != nil
    }
    if try names(one.version, other.entry) { return true }
    if try names(other.version, one.entry) { return false }
    return other.version.allSatisfy { one.version[$0.key, default: 0] >= $0.value }
  }

  /// Everything that the member holds, sorted by path and name.
  func description() throws -> MemberDescription {
    let entries = try entries()
    var records: [(path: [String], mode: UInt64, items: [WireMessage])] = []
    for (id, entry) in entries {
      let revision = try WireMessage(try object(try entry.bytes(6), .record))
      try Refused.unless(try revision.bytes(1) == id, "a revision of another record")
      let mode = UInt64(S_IFDIR) | (try revision.number(9))
      records.append((try path(of: entry, in: entries), mode, try items(of: revision)))
    }
    let files = try records.flatMap(\.items).map { try $0.bytes(2) }
    let links = Dictionary(files.map { ($0, 1) }, uniquingKeysWith: +)
    guard let root = entries[[UInt8](repeating: 0, count: 16)] else { throw Refused("no root") }
    return MemberDescription(
      name: try root.text(3),
      records: try records.map { record in
        let items = try record.items.map { item in
          try self.description(of: item, links: links[try item.bytes(2), default: 0])
        }
        return RecordDescription(path: record.path, mode: record.mode, items: items).sorted
      })
  }

  /// The last paragraph of each record's note, by the record's title without the date before it.
  func notes() throws -> [String: String] {
    var notes: [String: String] = [:]
    for entry in try entries().values {
      let document = try WireMessage(try object(try entry.bytes(6), .record)).message(12)
      let lines = try document.text(7).split(separator: "\n")
      guard let last = lines.last else { continue }
      let title = try entry.text(3)
      notes[title.hasPrefix("20") ? String(title.dropFirst(11)) : title] = String(last)
    }
    return notes
  }

  private func path(of entry: WireMessage, in entries: [[UInt8]: WireMessage]) throws -> [String] {
    var path: [String] = []
    var entry = entry
    while entry.has(2) {
      path.insert(try entry.text(3), at: 0)
      guard let parent = entries[try entry.bytes(2)], path.count <= 1000 else {
        throw Refused("a record without a parent")
      }
      entry = parent
    }
    return path
  }

  // MARK: Items

  private func items(of revision: WireMessage) throws -> [WireMessage] {
    let items = try revision.all(12) + encodedItems(of: revision)
    return try items.map(WireMessage.init).filter { try $0.number(11) == 0 }
  }

  /// Every item but `record.md`, as it is encoded, tombstones too.
  func encodedItems(of revision: WireMessage) throws -> [[UInt8]] {
    let root = try revision.bytes(14)
    return try revision.message(13).all(1) + (root.isEmpty ? [] : items(under: root, places: []))
  }

  /// The items below a node that is reached by `places`, checked to stand where their names say.
  private func items(under digest: [UInt8], places: [UInt64]) throws -> [[UInt8]] {
    let page = try WireMessage(try object(digest, .page))
    let children = try page.all(2)
    guard children.isEmpty else {
      try Refused.unless(try children.count == 16 && page.all(1).isEmpty, "a branch")
      let items = try children.enumerated().filter { !$0.element.isEmpty }.flatMap {
        try self.items(under: $0.element, places: places + [UInt64($0.offset)])
      }
      try Refused.unless(items.count > 32, "a branch of few items")
      return items
    }
    let items = try page.all(1)
    for item in items {
      let hash = Self.hash(try WireMessage(item).bytes(1))
      for (depth, place) in places.enumerated() {
        try Refused.unless(hash >> UInt64(60 - 4 * depth) & 15 == place, "an item's place")
      }
    }
    return items
  }

  static func hash(_ name: [UInt8]) -> UInt64 {
    var hash = name.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    hash ^= hash >> 33
    hash = hash &* 0xff51_afd7_ed55_8ccd
    hash ^= hash >> 33
    hash = hash &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }

  private func description(of item: WireMessage, links: Int) throws -> FileDescription {
    let modified = try item.message(5)
    var description = FileDescription(
      name: ItemName(bytes: try item.bytes(1)), mode: try item.number(4), links: links,
      modified: [try modified.signed(1), Int64(try modified.number(2))])
    if description.mode & UInt64(S_IFMT) == UInt64(S_IFLNK) {
      description.target = try item.text(16)
      return description
    }
    description.size = try item.number(3)
    description.sha256 = try content(of: item).sha256.hex
    let attributes = try item.messages(12).map { (try $0.text(1), try $0.bytes(2).hex) }
    description.xattrs = Dictionary(uniqueKeysWithValues: attributes)
    return description
  }

  // MARK: Contents

  /// The digests of an item's chunks; an empty one is a hole.
  private func chunks(of item: WireMessage) throws -> [[UInt8]] {
    let indexes = try item.all(9)
    guard !indexes.isEmpty else { return try item.all(8) }
    return try indexes.flatMap { try WireMessage(try object($0, .index)).all(1) }
  }

  private func content(of item: WireMessage) throws -> [UInt8] {
    let size = Int(try item.number(3))
    let inline = try item.bytes(7)
    guard inline.isEmpty else {
      try Refused.unless(inline.count == size, "the size of an inline content")
      return inline
    }
    let chunks = try chunks(of: item)
    let chunkSize = 1_048_576
    try Refused.unless(chunks.count == (size + chunkSize - 1) / chunkSize, "the number of chunks")
    var content: [UInt8] = []
    for digest in chunks {
      let count = min(chunkSize, size - content.count)
      let chunk = digest.isEmpty ? .init(repeating: 0, count: count) : try object(digest, .chunk)
      try Refused.unless(chunk.count >= count, "a short chunk")
      content += chunk.prefix(count)
    }
    return content
  }
}
