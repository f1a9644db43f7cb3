extension RecordRevision {
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "record revision", limit: Limits.contentBytes(of: .record),
      RecordRevision.decode)
  }

  private static func decode(_ reader: inout WireReader) throws(ModelError) -> RecordRevision {
    var record: RecordID?
    var device: DeviceID?
    var title: FileName?
    var parent: RecordID?
    var isDeleted = false
    var version: [VersionVector.Entry] = []
    var (time, placeTime, attributesTime) = (HybridTime.zero, HybridTime.zero, HybridTime.zero)
    var previous: [ContentDigest] = []
    var attributes = RecordAttributes(mode: 0)
    var document: Item?
    var inlineItems: [Item] = []
    var root: ContentDigest?
    var certificate: StatementID?
    var signature: [UInt8]?
    var unknown = UnknownFields()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): record = try reader.id("record")
      case .bytes(2): parent = try reader.optionalID("parent")
      case .bytes(3): title = try reader.fileName("title")
      case .bytes(4): version.append(try .decode(reader.message("version entry")))
      case .fixed64(5): time = try reader.time("the time")
      case .bytes(6): device = try reader.id("device")
      case .bytes(7): previous.append(try reader.id("previous"))
      case .varint(8): isDeleted = try reader.bool()
      case .varint(9): attributes.mode = try reader.uint32()
      case .bytes(10): attributes.modified = try .decode(reader.message("modified"))
      case .bytes(11):
        attributes.xattrs.append(try .decode(reader.message("extended attribute")))
      case .bytes(12): document = try Item.decode(reader.message("document"))
      case .bytes(13): inlineItems = try inlinePage(reader.message("items"))
      case .bytes(14): root = try reader.optionalID("root of the items")
      case .fixed64(15): placeTime = try reader.time("the place's time")
      case .varint(16): attributes.owner.uidPlusOne = try reader.uint32()
      case .varint(17): attributes.owner.gidPlusOne = try reader.uint32()
      case .fixed64(18): attributesTime = try reader.time("the attributes' time")
      case .bytes(19): certificate = try reader.id("certificate")
      case .bytes(20): signature = try reader.byteArray()
      default: unknown.append(try reader.skip(tag))
      }
    }
    guard let record, let title, let device else {
      throw reader.malformed("the record, the title or the device is missing")
    }
    try reader.check(record, in: parent, mode: attributes.mode)
    guard document == nil || document?.name == .record else {
      throw reader.malformed("the document is not named record.md")
    }
    guard root == nil || inlineItems.isEmpty else {
      throw reader.malformed("it has items of two kinds")
    }
    attributes.xattrs = try attributes.xattrs.validated()
    return RecordRevision(
      record: record, place: RecordPlace(parent: parent, title: title, isDeleted: isDeleted),
      placeTime: placeTime, attributes: attributes, attributesTime: attributesTime,
      version: try VersionVector(decoded: version, reader), time: time, device: device,
      previous: previous, document: document,
      items: root.map(ItemTree.stored) ?? ItemTree(items: inlineItems), unknown: unknown,
      signature: try Signature(certificate, signature, reader))
  }

  private static func inlinePage(_ reader: WireReader) throws(ModelError) -> [Item] {
    guard case .leaf(let items) = try ItemPage.decode(reader), items.count <= Limits.leafItems
    else { throw reader.malformed("it is no leaf") }
    return items
  }

  /// Encodes the revision and, before it, the item pages that are not stored yet.
  ///
  /// `store` puts a page where it can be loaded from and returns its name.
  package mutating func encode(
    storingPages store: (_ page: [UInt8]) throws -> ContentDigest
  ) rethrows -> [UInt8] {
    var writer = WireWriter(capacity: Self.usualSize)
    encode(root: try items.encodeNewPages(store: store), to: &writer)
    if let signature {
      writer.id(19, signature.certificate)
      writer.element(20, signature.bytes)
    }
    return writer.bytes
  }

  /// Encodes the revision, signed anew by the device with this certificate, and before it the item pages that are not stored yet.
  ///
  /// - Parameter sign: Gives the signature, 64 bytes, over a revision without it.
  package mutating func encodeSigned(
    by certificate: StatementID, sign: (_ unsigned: [UInt8]) -> [UInt8],
    storingPages store: (_ page: [UInt8]) throws -> ContentDigest
  ) rethrows -> [UInt8] {
    var writer = WireWriter(capacity: Self.usualSize)
    encode(root: try items.encodeNewPages(store: store), to: &writer)
    writer.id(19, certificate)
    let bytes = sign(writer.bytes)
    writer.element(20, bytes)
    signature = Signature(certificate: certificate, bytes: bytes)
    return writer.bytes
  }

  /// What the signature of a revision is over: its bytes but for the last field; nil unless that is the signature.
  package static func signedPart(of bytes: [UInt8]) -> [UInt8]? {
    var field = WireWriter(capacity: 8)
    field.element(20, [UInt8](repeating: 0, count: KeySize.signature))
    let start = bytes.count - field.bytes.count
    let tagSize = field.bytes.count - KeySize.signature
    guard start >= 0, bytes[start...].prefix(tagSize).elementsEqual(field.bytes.prefix(tagSize))
    else { return nil }
    return Array(bytes[..<start])
  }

  private static let usualSize = 512

  private func encode(root: ItemTree.Root, to writer: inout WireWriter) {
    writer.id(1, record)
    writer.id(2, place.parent)
    writer.fileName(3, place.title)
    for entry in version.entries { writer.message(4, entry.encode) }
    writer.fixed64(5, time.rawValue)
    writer.id(6, device)
    for name in previous { writer.elementID(7, name) }
    writer.bool(8, place.isDeleted)
    writer.varint(9, UInt64(attributes.mode))
    attributes.modified.encode(10, to: &writer)
    attributes.xattrs.encode(11, to: &writer)
    if let document { writer.message(12, document.encode) }
    switch root {
    case .inline([]): break
    case .inline(let items): writer.message(13, ItemPage.leaf(items).encode)
    case .stored(let name): writer.id(14, name)
    }
    writer.fixed64(15, placeTime.rawValue)
    writer.varint(16, UInt64(attributes.owner.uidPlusOne))
    writer.varint(17, UInt64(attributes.owner.gidPlusOne))
    writer.fixed64(18, attributesTime.rawValue)
    writer.unknown(unknown)
  }
}

extension RecordRevision.Signature {
  fileprivate init?(
    _ certificate: StatementID?, _ bytes: [UInt8]?, _ reader: WireReader
  ) throws(ModelError) {
    if certificate == nil, bytes == nil { return nil }
    guard let certificate, let bytes, bytes.count == KeySize.signature else {
      throw reader.malformed("it has half a signature")
    }
    self.init(certificate: certificate, bytes: bytes)
  }
}

extension VersionVector.Entry {
  fileprivate static func decode(
    _ reader: WireReader
  ) throws(ModelError) -> VersionVector.Entry {
    var reader = reader
    var device: DeviceID?
    var counter: UInt64 = 0
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): device = try reader.id("device")
      case .varint(2): counter = try reader.varint()
      default: _ = try reader.skip(tag)
      }
    }
    guard let device else { throw reader.malformed("the device is missing") }
    return VersionVector.Entry(device: device, counter: counter)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, device)
    writer.varint(2, counter)
  }
}

extension WireReader {
  /// Refuses what neither a revision nor an entry may say of a record: that the root has a parent or another record has
  /// none, and a mode that is more than permission bits.
  func check(_ record: RecordID, in parent: RecordID?, mode: UInt32) throws(ModelError) {
    guard (parent == nil) == (record == .root) else {
      throw malformed("the root has a parent, or another record has none")
    }
    guard mode & ~0o7777 == 0 else { throw malformed("the mode is out of range") }
  }
}
