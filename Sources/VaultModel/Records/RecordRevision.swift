/// Where a record stands: its parent, its title, and whether it is deleted.
package struct RecordPlace: Hashable, Sendable {
  /// Nil for the member's root record, and for no other.
  package var parent: RecordID?
  package var title: FileName
  package var isDeleted: Bool

  package init(parent: RecordID?, title: FileName, isDeleted: Bool = false) {
    self.parent = parent
    self.title = title
    self.isDeleted = isDeleted
  }
}

/// The attributes of a record as a directory.
package struct RecordAttributes: Hashable, Sendable {
  /// Permission bits.
  package var mode: UInt32
  package var modified: FileTimestamp
  package var owner: Owner
  /// Sorted by name.
  package var xattrs: [Xattr]

  package init(
    mode: UInt32 = 0o700, modified: FileTimestamp = .zero, owner: Owner = .mounter,
    xattrs: [Xattr] = []
  ) {
    self.mode = mode
    self.modified = modified
    self.owner = owner
    self.xattrs = xattrs
  }
}

/// One revision of a record; the content of an object of kind `record`.
///
/// `Docs/Format.md` section 8. It can be read on its own: with the objects that it names it is all
/// that is known of the record.
package struct RecordRevision: Equatable, Sendable {
  package var record: RecordID
  package var place: RecordPlace
  /// When parent, title or deletion last changed.
  package var placeTime: HybridTime
  package var attributes: RecordAttributes
  /// When the attributes last changed.
  package var attributesTime: HybridTime
  package var version: VersionVector
  package var time: HybridTime
  /// The device that wrote it.
  package var device: DeviceID
  /// The revisions that it replaced: two or more after a merge.
  package var previous: [ContentDigest]
  /// The item named `record.md`.
  package var document: Item?
  /// Every other item, tombstones included.
  package var items: ItemTree
  package var unknown: UnknownFields
  /// Nil in a join, and where something was changed in it since it was signed.
  package var signature: Signature?

  /// Whose device wrote a revision: Docs/Format.md, "Whose a revision is".
  package struct Signature: Hashable, Sendable {
    /// Of the device's certificate.
    package let certificate: StatementID
    /// 64 bytes.
    package let bytes: [UInt8]

    package init(certificate: StatementID, bytes: [UInt8]) {
      self.certificate = certificate
      self.bytes = bytes
    }
  }

  package init(
    record: RecordID, place: RecordPlace, placeTime: HybridTime,
    attributes: RecordAttributes = RecordAttributes(), attributesTime: HybridTime,
    version: VersionVector, time: HybridTime, device: DeviceID, previous: [ContentDigest] = [],
    document: Item? = nil, items: ItemTree = ItemTree(), unknown: UnknownFields = .none,
    signature: Signature? = nil
  ) {
    self.record = record
    self.place = place
    self.placeTime = placeTime
    self.attributes = attributes
    self.attributesTime = attributesTime
    self.version = version
    self.time = time
    self.device = device
    self.previous = previous
    self.document = document
    self.items = items
    self.unknown = unknown
    self.signature = signature
  }

  /// Whether it has the form of a join, which its parts have to prove.
  package var isUnsignedJoin: Bool { signature == nil && previous.count > 1 }

  /// The item of this name, `record.md` or another, tombstones included.
  package mutating func item(named name: FileName, load: ItemTree.Load) throws -> Item? {
    name == .record ? document : try items.item(named: name, load: load)
  }

  /// Puts an item in, `record.md` or another, in the place of the one of its name.
  package mutating func set(_ item: Item, load: ItemTree.Load) throws {
    if item.name == .record { document = item } else { try items.set(item, load: load) }
  }

  /// Takes the item of this name out, if there is one, without leaving a tombstone.
  package mutating func remove(_ name: FileName, load: ItemTree.Load) throws {
    if name == .record { document = nil } else { try items.remove(name, load: load) }
  }
}
