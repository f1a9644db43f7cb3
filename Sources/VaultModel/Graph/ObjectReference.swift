/// That an object is needed in one place: what it must be, and for what.
package struct ObjectReference: Hashable, Sendable {
  package let digest: ContentDigest
  package let kind: ObjectKind
  /// Of which item's content it is a part; nil for what belongs to a record as a whole.
  package let item: FileName?
  /// How many bytes of the item's content it stands for; nil where it stands for none.
  package let byteCount: UInt64?
  /// Where it is needed among the objects of its kind: which part of an item's content it is, or where in the tree of
  /// items it stands.
  package let position: Position

  package enum Position: Hashable, Sendable {
    case only
    case part(Int)
    case tree(ItemPlace)
  }

  package init(
    _ digest: ContentDigest, _ kind: ObjectKind, part: ItemPart? = nil,
    at position: Position = .only
  ) {
    (self.digest, self.kind, self.position) = (digest, kind, position)
    (item, byteCount) = (part?.item, part?.byteCount)
  }

  /// A part of an item's content.
  package struct ItemPart: Sendable {
    let item: FileName
    let byteCount: UInt64
  }

  /// The revision of a record.
  package static func revision(_ digest: ContentDigest) -> ObjectReference {
    ObjectReference(digest, .record)
  }

  /// How many bytes of content are needed of a chunk; nil of anything else, where only its own decoding tells.
  package var contentByteCount: Int? {
    kind == .chunk ? byteCount.map { Int(min($0, UInt64(Limits.chunkBytes))) } : nil
  }

  /// Whether the other one is what stood in the same place of another revision.
  package func replaces(_ other: ObjectReference) -> Bool {
    kind == other.kind && item == other.item && position == other.position
  }
}

/// What is in an object, as far as it can name others.
package enum ObjectContent: Sendable {
  case record(RecordRevision)
  case page(ItemPage)
  case index(ChunkIndex)
  /// Bytes of a file, entries, names of what is to be removed or was signed: no part of the graph begins there.
  case end

  package init(decoding bytes: [UInt8], _ kind: ObjectKind) throws(ModelError) {
    self =
      switch kind {
      case .record: .record(try RecordRevision(decoding: bytes))
      case .page: .page(try ItemPage(decoding: bytes))
      case .index: .index(try ChunkIndex(decoding: bytes))
      case .chunk, .segment, .announcement, .authored: .end
      }
  }

  package var revision: RecordRevision? {
    if case .record(let revision) = self { revision } else { nil }
  }
}
