/// What a manifest says of one record: enough to list it without opening its revision.
///
/// 100,000 of these are in memory, hence the care about their size: one value is about 220 bytes,
/// and allocates only for a title of more than 23 bytes or a version of more than one device.
package struct RecordEntry: Hashable, Sendable {
  package var record: RecordID
  /// Nil for the member's root record, and for no other.
  package var parent: RecordID?
  package var isDeleted: Bool
  /// The front matter of `record.md` does not parse, so `type` and `date` say nothing.
  package var hasUnreadableFrontMatter: Bool
  /// The revision has no items and no extended attributes, so nobody need open it to list the record.
  package var isBare: Bool
  /// Permission bits.
  package var mode: UInt32
  package var title: FileName
  package var type: String
  /// As written in the front matter; at most 32 bytes.
  package var date: String
  package var revision: ContentDigest
  // The version vector without the writing device, whose id would otherwise stand here twice.
  private var writer: DeviceID
  private var writerCounter: UInt64
  private var otherWriters: [VersionVector.Entry]
  package var time: HybridTime
  package var modified: FileTimestamp
  package var owner: Owner
  package var unknown: UnknownFields

  package init(
    record: RecordID, parent: RecordID?, title: FileName, type: String = "", date: String = "",
    revision: ContentDigest, version: VersionVector, time: HybridTime, device: DeviceID,
    isDeleted: Bool = false, mode: UInt32 = 0o700, modified: FileTimestamp = .zero,
    owner: Owner = .mounter, hasUnreadableFrontMatter: Bool = false, isBare: Bool = false,
    unknown: UnknownFields = .none
  ) {
    self.record = record
    self.parent = parent
    self.isDeleted = isDeleted
    self.hasUnreadableFrontMatter = hasUnreadableFrontMatter
    self.isBare = isBare
    self.mode = mode
    self.title = title
    self.type = type
    self.date = date
    self.revision = revision
    writer = device
    (writerCounter, otherWriters) = Self.split(version, device)
    self.time = time
    self.modified = modified
    self.owner = owner
    self.unknown = unknown
  }

  /// The device that wrote the revision.
  package var device: DeviceID {
    get { writer }
    set {
      let version = version
      writer = newValue
      (writerCounter, otherWriters) = Self.split(version, newValue)
    }
  }

  package var version: VersionVector {
    get {
      if otherWriters.isEmpty { return VersionVector(device: writer, counter: writerCounter) }
      return VersionVector(
        otherWriters + [VersionVector.Entry(device: writer, counter: writerCounter)])
    }
    set { (writerCounter, otherWriters) = Self.split(newValue, writer) }
  }

  private static func split(
    _ version: VersionVector, _ device: DeviceID
  ) -> (UInt64, [VersionVector.Entry]) {
    (version[device], version.entries(but: device))
  }

  /// How what it knows stands to what another entry of its record does.
  package func compare(to other: RecordEntry) -> VersionVector.Order {
    let (version, known) = (version, other.version)
    if version.names(other.revision) { return .dominates }
    if known.names(revision) { return .dominated }
    return version.compare(to: known)
  }
}

extension RecordEntry {
  /// Decodes one entry of a segment whose device table is `devices`.
  static func decode(
    _ reader: WireReader, devices: [DeviceID]
  ) throws(ModelError) -> RecordEntry {
    var reader = reader
    var record: RecordID?
    var title: FileName?
    var revision: ContentDigest?
    var parent: RecordID?
    var pairs = VersionPairs()
    var device: UInt32 = 0
    var (isDeleted, hasUnreadableFrontMatter, isBare) = (false, false, false)
    var (type, date) = ("", "")
    var time = HybridTime.zero
    var mode: UInt32 = 0
    var modified = FileTimestamp.zero
    var owner = Owner.mounter
    var unknown = UnknownFields()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): record = try reader.id("record")
      case .bytes(2): parent = try reader.optionalID("parent")
      case .bytes(3): title = try reader.fileName("title")
      case .bytes(4): type = try reader.string("type")
      case .bytes(5): date = try reader.string("date")
      case .bytes(6): revision = try reader.id("revision")
      case .bytes(7):
        var packed = try reader.message("version")
        while !packed.isAtEnd { try pairs.append(packed.varint(), devices, reader) }
      case .varint(7): try pairs.append(reader.varint(), devices, reader)
      case .fixed64(8): time = try reader.time("the time")
      case .varint(9): isDeleted = try reader.bool()
      case .varint(10): mode = try reader.uint32()
      case .bytes(11): modified = try .decode(reader.message("modified"))
      case .varint(12): device = try reader.uint32()
      case .varint(13): hasUnreadableFrontMatter = try reader.bool()
      case .varint(14): owner.uidPlusOne = try reader.uint32()
      case .varint(15): owner.gidPlusOne = try reader.uint32()
      case .varint(16): isBare = try reader.bool()
      default: unknown.append(try reader.skip(tag))
      }
    }
    guard let record, let title, let revision else {
      throw reader.malformed("the record, the title or the revision is missing")
    }
    try reader.check(record, in: parent, mode: mode)
    guard let writer = devices[checked: UInt64(device)] else {
      throw reader.malformed("the device is not in the table")
    }
    try Limits.check(date.utf8.count, Limits.dateBytes, "length of a date")
    return RecordEntry(
      record: record, parent: parent, title: title, type: type, date: date, revision: revision,
      version: try pairs.version(reader), time: time, device: writer,
      isDeleted: isDeleted, mode: mode, modified: modified, owner: owner,
      hasUnreadableFrontMatter: hasUnreadableFrontMatter, isBare: isBare, unknown: unknown)
  }

  func encode(to writer: inout WireWriter, devices: DeviceTable) {
    writer.id(1, record)
    writer.id(2, parent)
    writer.fileName(3, title)
    writer.string(4, type)
    writer.string(5, date)
    writer.id(6, revision)
    writer.packed(
      7, version.entries.flatMap { [UInt64(devices.position(of: $0.device)), $0.counter] })
    writer.fixed64(8, time.rawValue)
    writer.bool(9, isDeleted)
    writer.varint(10, UInt64(mode))
    modified.encode(11, to: &writer)
    writer.varint(12, UInt64(devices.position(of: device)))
    writer.bool(13, hasUnreadableFrontMatter)
    writer.varint(14, UInt64(owner.uidPlusOne))
    writer.varint(15, UInt64(owner.gidPlusOne))
    writer.bool(16, isBare)
    writer.unknown(unknown)
  }
}

/// Collects the numbers of a version, which come as pairs of a device's position and its counter.
private struct VersionPairs {
  private var entries: [VersionVector.Entry] = []
  private var first: VersionVector.Entry?
  private var pending: DeviceID?

  mutating func append(
    _ number: UInt64, _ devices: [DeviceID], _ reader: borrowing WireReader
  ) throws(ModelError) {
    if let device = pending {
      pending = nil
      let entry = VersionVector.Entry(device: device, counter: number)
      if first == nil { first = entry } else { entries.append(entry) }
    } else {
      guard let device = devices[checked: number] else {
        throw reader.malformed("a version names a device that is not in the table")
      }
      pending = device
    }
  }

  func version(_ reader: borrowing WireReader) throws(ModelError) -> VersionVector {
    guard pending == nil else { throw reader.malformed("a version ends with half a pair") }
    guard let first else { return VersionVector() }
    if entries.isEmpty { return VersionVector(device: first.device, counter: first.counter) }
    return try VersionVector(decoded: [first] + entries, reader)
  }
}

extension [DeviceID] {
  subscript(checked position: UInt64) -> DeviceID? {
    position < UInt64(count) ? self[Int(position)] : nil
  }
}
