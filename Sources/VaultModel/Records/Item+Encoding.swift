extension Item {
  static func decode(_ reader: WireReader) throws(ModelError) -> Item {
    var reader = reader
    var name: FileName?
    var file: FileID?
    var size: UInt64 = 0
    var (time, fileTime) = (HybridTime.zero, HybridTime.zero)
    var mode: UInt32 = 0
    var isDeleted = false
    var modified = FileTimestamp.zero
    var owner = Owner.mounter
    var mediaType = ""
    var contents = StoredContents()
    var xattrs: [Xattr] = []
    var linkRecords: [RecordID] = []
    var unknown = UnknownFields()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): name = try reader.fileName("name")
      case .bytes(2): file = try reader.id("file")
      case .varint(3): size = try reader.varint()
      case .varint(4): mode = try reader.uint32()
      case .bytes(5): modified = try .decode(reader.message("modified"))
      case .bytes(6): mediaType = try reader.string("media type")
      case .bytes(7): contents.inline = try reader.byteArray()
      case .bytes(8): contents.chunks.append(try reader.optionalID("chunk"))
      case .bytes(9): contents.indexes.append(try reader.id("index"))
      case .fixed64(10): time = try reader.time("the time")
      case .varint(11): isDeleted = try reader.bool()
      case .bytes(12): xattrs.append(try .decode(reader.message("extended attribute")))
      case .bytes(13): linkRecords.append(try reader.id("link record"))
      case .varint(14): owner.uidPlusOne = try reader.uint32()
      case .varint(15): owner.gidPlusOne = try reader.uint32()
      case .bytes(16): contents.symlink = try reader.byteArray()
      case .fixed64(17): fileTime = try reader.time("the file's time")
      default: unknown.append(try reader.skip(tag))
      }
    }
    guard let name, let file else { throw reader.malformed("the name or the file id is missing") }
    let content = try contents.content(size: size, isDeleted: isDeleted, reader)
    return Item(
      name: name, file: file, size: size, mode: mode, modified: modified, mediaType: mediaType,
      content: content, time: time, isDeleted: isDeleted,
      xattrs: try xattrs.validated(), linkRecords: linkRecords, owner: owner, unknown: unknown,
      fileTime: fileTime == .zero ? nil : fileTime)
  }

  func encode(to writer: inout WireWriter) {
    writer.fileName(1, name)
    writer.id(2, file)
    writer.varint(3, size)
    writer.varint(4, UInt64(mode))
    modified.encode(5, to: &writer)
    writer.string(6, mediaType)
    content.encode(to: &writer)
    writer.fixed64(10, time.rawValue)
    writer.bool(11, isDeleted)
    xattrs.encode(12, to: &writer)
    for record in linkRecords { writer.elementID(13, record) }
    writer.varint(14, UInt64(owner.uidPlusOne))
    writer.varint(15, UInt64(owner.gidPlusOne))
    content.encodeTarget(to: &writer)
    if let fileTime { writer.fixed64(17, fileTime.rawValue) }
    writer.unknown(unknown)
  }

  /// The item encoded alone: what decides between two items of one time.
  func encoded() -> [UInt8] {
    var writer = WireWriter()
    encode(to: &writer)
    return writer.bytes
  }
}

extension Item.Content {
  /// Fields 7 to 9 of an item.
  func encode(to writer: inout WireWriter) {
    switch self {
    case .inline(let bytes): writer.bytes(7, bytes)
    case .chunks(let names): for name in names { writer.elementID(8, name) }
    case .indexes(let names): for name in names { writer.elementID(9, name) }
    case .none, .symlink: break
    }
  }

  /// Field 16: what a symbolic link points at.
  func encodeTarget(to writer: inout WireWriter) {
    if case .symlink(let target) = self { writer.bytes(16, target) }
  }
}

/// The four fields that may hold an item's content, of which at most one does.
struct StoredContents {
  var inline: [UInt8] = []
  var chunks: [ContentDigest?] = []
  var indexes: [ContentDigest] = []
  var symlink: [UInt8] = []

  /// The content of an item of this size.
  func content(
    size: UInt64, isDeleted: Bool, _ reader: borrowing WireReader
  ) throws(ModelError) -> Item.Content {
    guard size <= UInt64(Int64.max) else { throw reader.malformed("the size is above 2^63 - 1") }
    let content = try content(reader)
    switch content {
    case .none:
      guard size == 0 || isDeleted else { throw reader.malformed("the content is missing") }
    case .inline(let bytes):
      guard size == UInt64(bytes.count) else {
        throw reader.malformed("the size is not that of the inline content")
      }
    case .chunks(let names):
      guard Item.chunkCount(size: size) == UInt64(names.count) else {
        throw reader.malformed("the number of chunks does not fit the size")
      }
    case .indexes(let names):
      guard Item.indexCount(size: size) == UInt64(names.count) else {
        throw reader.malformed("the number of chunk indexes does not fit the size")
      }
    case .symlink: break
    }
    return content
  }

  /// The content, of whatever size.
  func content(_ reader: borrowing WireReader) throws(ModelError) -> Item.Content {
    switch (inline.isEmpty, chunks.isEmpty, indexes.isEmpty, symlink.isEmpty) {
    case (true, true, true, true): return .none
    case (false, true, true, true):
      try Limits.check(inline.count, Limits.inlineContentBytes, "length of inline content")
      return .inline(inline)
    case (true, false, true, true):
      try Limits.check(chunks.count, Limits.inlineChunks, "number of chunks in an item")
      return .chunks(chunks)
    case (true, true, false, true): return .indexes(indexes)
    case (true, true, true, false):
      try Limits.check(symlink.count, Limits.symlinkTargetBytes, "length of a link's target")
      guard !symlink.contains(0) else { throw reader.malformed("a link's target has a NUL") }
      return .symlink(symlink)
    default: throw reader.malformed("it has content of two kinds")
    }
  }
}
