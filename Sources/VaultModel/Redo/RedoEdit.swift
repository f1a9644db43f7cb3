/// A change of one record as a redo file holds it.
package struct RedoEdit: Equatable, Sendable {
  package var record: RecordID
  /// No commit has named the record yet.
  package var isNew: Bool
  /// Nil where it stays.
  package var place: RecordPlace?
  /// Nil where they stay.
  package var attributes: RecordAttributes?
  /// When names in it changed, where its other attributes stay; nil where its time stays, too.
  package var modified: FileTimestamp?
  /// The items that are new or changed, sorted by name.
  package var items: [Item]
  /// The names of the items that are gone, sorted.
  package var removed: [FileName]
  /// What the author of the edit saw under the names, sorted by name.
  package var seen: [Seen]
  /// Where the author of the edit saw the record, where `place` is there; nil where what is there is replaced without a look.
  package var seenPlace: RecordPlace?

  package struct Seen: Equatable, Sendable {
    package var name: FileName
    package var file: SeenFile

    package init(name: FileName, file: SeenFile) {
      self.name = name
      self.file = file
    }
  }

  package init(
    record: RecordID, isNew: Bool = false, place: RecordPlace? = nil,
    attributes: RecordAttributes? = nil, items: [Item] = [], removed: [FileName] = [],
    seen: [Seen] = [], seenPlace: RecordPlace? = nil
  ) {
    self.record = record
    self.isNew = isNew
    self.place = place
    self.attributes = attributes
    self.items = items
    self.removed = removed
    self.seen = seen
    self.seenPlace = seenPlace
  }
}

extension RedoEdit {
  static func decode(_ reader: WireReader) throws(ModelError) -> RedoEdit {
    var reader = reader
    var record: RecordID?
    var edit = RedoEdit(record: .root)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): record = try reader.id("record")
      case .varint(2): edit.isNew = try reader.bool()
      case .bytes(3): edit.place = try .decode(reader.message("place"))
      case .bytes(4): edit.attributes = try .decode(reader.message("attributes"))
      case .bytes(5): edit.items.append(try .decode(reader.message("item")))
      case .bytes(6): edit.removed.append(try reader.fileName("removed item"))
      case .bytes(7): edit.seen.append(try .decode(reader.message("seen item")))
      case .bytes(8): edit.modified = try .decode(reader.message("modified"))
      case .bytes(9): edit.seenPlace = try .decode(reader.message("seen place"))
      default: _ = try reader.skip(tag)
      }
    }
    guard let record else { throw reader.malformed("the record is missing") }
    edit.record = record
    if let place = edit.place, (place.parent == nil) != (record == .root) {
      throw reader.malformed("the root has a parent, or another record has none")
    }
    return edit
  }

  func encode(to writer: inout WireWriter) {
    writer.id(1, record)
    writer.bool(2, isNew)
    if let place { writer.message(3, place.encode) }
    if let attributes { writer.message(4, attributes.encode) }
    for item in items { writer.message(5, item.encode) }
    for name in removed { writer.fileName(6, name) }
    for item in seen { writer.message(7, item.encode) }
    modified?.encode(8, to: &writer)
    if let seenPlace { writer.message(9, seenPlace.encode) }
  }
}

extension RedoEdit.Seen {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> RedoEdit.Seen {
    var reader = reader
    var name: FileName?
    var time = HybridTime.zero
    var contents = StoredContents()
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): name = try reader.fileName("name")
      case .fixed64(2): time = try reader.time("the time")
      case .bytes(7): contents.inline = try reader.byteArray()
      case .bytes(8): contents.chunks.append(try reader.optionalID("chunk"))
      case .bytes(9): contents.indexes.append(try reader.id("index"))
      case .bytes(16): contents.symlink = try reader.byteArray()
      default: _ = try reader.skip(tag)
      }
    }
    guard let name else { throw reader.malformed("the name is missing") }
    let file = SeenFile(
      changed: time, content: try contents.content(reader))
    return RedoEdit.Seen(name: name, file: file)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.fileName(1, name)
    writer.fixed64(2, file.changed.rawValue)
    file.content.encode(to: &writer)
    file.content.encodeTarget(to: &writer)
  }
}

extension RecordPlace {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> RecordPlace {
    var reader = reader
    var title: FileName?
    var parent: RecordID?
    var isDeleted = false
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): parent = try reader.optionalID("parent")
      case .bytes(2): title = try reader.fileName("title")
      case .varint(3): isDeleted = try reader.bool()
      default: _ = try reader.skip(tag)
      }
    }
    guard let title else { throw reader.malformed("the title is missing") }
    return RecordPlace(parent: parent, title: title, isDeleted: isDeleted)
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.id(1, parent)
    writer.fileName(2, title)
    writer.bool(3, isDeleted)
  }
}

extension RecordAttributes {
  fileprivate static func decode(_ reader: WireReader) throws(ModelError) -> RecordAttributes {
    var reader = reader
    var attributes = RecordAttributes(mode: 0)
    while let tag = try reader.next() {
      switch tag {
      case .varint(1): attributes.mode = try reader.uint32()
      case .bytes(2): attributes.modified = try .decode(reader.message("modified"))
      case .bytes(3): attributes.xattrs.append(try .decode(reader.message("extended attribute")))
      case .varint(4): attributes.owner.uidPlusOne = try reader.uint32()
      case .varint(5): attributes.owner.gidPlusOne = try reader.uint32()
      default: _ = try reader.skip(tag)
      }
    }
    guard attributes.mode & ~0o7777 == 0 else {
      throw reader.malformed("the mode is out of range")
    }
    attributes.xattrs = try attributes.xattrs.validated()
    return attributes
  }

  fileprivate func encode(to writer: inout WireWriter) {
    writer.varint(1, UInt64(mode))
    modified.encode(2, to: &writer)
    xattrs.encode(3, to: &writer)
    writer.varint(4, UInt64(owner.uidPlusOne))
    writer.varint(5, UInt64(owner.gidPlusOne))
  }
}
