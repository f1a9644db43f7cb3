/// What one `fsync` makes durable before a commit does; sealed in a process's redo file.
///
/// `Docs/Format.md` section 14, "Redo files". Each record holds *all* that no commit has yet, so that of several only
/// the last one counts; the objects of the others are still needed.
package struct RedoRecord: Equatable, Sendable {
  /// An object that the edits of this record, or of one before it, name and that is in no other place.
  package struct Object: Equatable, Sendable {
    package var digest: ContentDigest
    package var kind: ObjectKind
    /// Sealed, as it would stand in the vault's folder.
    package var file: [UInt8]

    package init(digest: ContentDigest, kind: ObjectKind, file: [UInt8]) {
      self.digest = digest
      self.kind = kind
      self.file = file
    }
  }

  package var edits: [RedoEdit]
  package var objects: [Object]
  /// The inode number of the vault's folder: a copy of it has another, and must be left alone while it stands somewhere else.
  package var folder: UInt64
  /// Where that folder stood; empty where that is not known.
  package var path: [UInt8]
  package var unknown: UnknownFields

  package init(
    edits: [RedoEdit] = [], objects: [Object] = [], folder: UInt64 = 0, path: [UInt8] = [],
    unknown: UnknownFields = .none
  ) {
    self.edits = edits
    self.objects = objects
    self.folder = folder
    self.path = path
    self.unknown = unknown
  }

  /// The longest encoding of a record.
  package static let byteLimit = 1 << 20

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "redo record", limit: Self.byteLimit, RedoRecord.decode)
  }

  private static func decode(_ reader: inout WireReader) throws(ModelError) -> RedoRecord {
    var record = RedoRecord()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): record.edits.append(try .decode(reader.message("redo edit")))
      case .bytes(2): record.objects.append(try .decode(reader.message("redo object")))
      case .fixed64(3): record.folder = try reader.fixed64()
      case .bytes(4): record.path = try reader.byteArray()
      default: record.unknown.append(try reader.skip(tag))
      }
    }
    return record
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: 1024)
    for edit in edits { writer.message(1, edit.encode) }
    for object in objects { writer.message(2, object.encode) }
    writer.fixed64(3, folder)
    writer.bytes(4, path)
    writer.unknown(unknown)
    return writer.bytes
  }
}

extension RedoRecord.Object {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> RedoRecord.Object {
    var reader = reader
    var digest: ContentDigest?
    var kind: ObjectKind?
    var file: [UInt8] = []
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): digest = try reader.id("digest")
      case .varint(2): kind = UInt8(exactly: try reader.varint()).flatMap(ObjectKind.init)
      case .bytes(3): file = try reader.byteArray()
      default: _ = try reader.skip(tag)
      }
    }
    guard let digest, let kind else { throw reader.malformed("the digest or the kind is missing") }
    return RedoRecord.Object(digest: digest, kind: kind, file: file)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, digest)
    writer.varint(2, UInt64(kind.rawValue))
    writer.bytes(3, file)
  }
}
