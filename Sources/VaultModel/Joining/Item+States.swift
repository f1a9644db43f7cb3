extension Item {
  private static let typeBits: UInt32 = 0o170000

  /// When the file itself last changed, its content or its attributes.
  package var changed: HybridTime { fileTime ?? time }

  /// Whether both are live files of the same type and content, whatever their attributes.
  package func hasContent(of other: Item) -> Bool {
    isDeleted == other.isDeleted && size == other.size && content == other.content
      && mode & Self.typeBits == other.mode & Self.typeBits
  }

  /// Whether content and attributes are the same, whatever the items are called.
  package func hasState(of other: Item) -> Bool {
    hasContent(of: other) && mode == other.mode && modified == other.modified
      && owner == other.owner && xattrs == other.xattrs
  }

  /// Whether somebody has written again exactly what stood under this name: they have decided for it. Nothing else writes a file
  /// as it is.
  func isDecided(over old: Item) -> Bool { changed > old.changed && hasState(of: old) }

  /// Whether an item that stands in `record` and another one, in a record of its own, are names of one file: each knows
  /// of the other, and both show the same. `Docs/Format.md` section 8.
  package func isName(
    of other: Item, in otherRecord: RecordID, standingIn record: RecordID
  ) -> Bool {
    file == other.file && linkRecords.contains(otherRecord)
      && other.linkRecords.contains(record) && hasState(of: other)
  }

  /// The item with content and attributes of another name of its file.
  package func taking(stateOf other: Item) -> Item {
    var item = self
    item.size = other.size
    item.content = other.content
    item.mode = other.mode
    item.modified = other.modified
    item.owner = other.owner
    item.xattrs = other.xattrs
    // As whoever changed the file would have written it under this name.
    item.time = max(time, other.changed)
    item.fileTime = other.changed == item.time ? nil : other.changed
    return item
  }

  /// The item, knowing that these records may have names of its file as well.
  package func knowing(_ records: some Sequence<RecordID>) -> Item {
    var item = self
    item.linkRecords = Set(linkRecords).union(records).sorted()
    return item
  }

  /// Whether the other one counts where two devices have left an item each under one name.
  func loses(to other: Item) -> Bool {
    if time != other.time { return time < other.time }
    if changed != other.changed { return changed < other.changed }
    let (own, others) = (bytes { $0.linkRecords = [] }, other.bytes { $0.linkRecords = [] })
    return own.lexicographicallyPrecedes(others)
  }

  /// Whether the other one has the later state of one file; of two of one time that of the greater bytes.
  package func isStaler(than other: Item) -> Bool {
    if changed != other.changed { return changed < other.changed }
    return stateBytes.lexicographicallyPrecedes(other.stateBytes)
  }

  /// Equal exactly where the file's state is, under whatever name and whenever it was written.
  package var stateBytes: [UInt8] {
    bytes {
      $0.name = .record
      $0.mediaType = ""
      ($0.time, $0.fileTime) = (.zero, nil)
      $0.linkRecords = []
      $0.unknown = .none
    }
  }

  private func bytes(without clear: (inout Item) -> Void) -> [UInt8] {
    var item = self
    clear(&item)
    return item.encoded()
  }
}
