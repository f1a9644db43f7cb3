// What names what, of all that records are made of: a revision names pages, or items, and these name chunks, or lists of
// chunks. Nobody else knows that. What replaced what is not among it: `RecordRevision.previous` is for those who follow
// history, each as far as they need it.

extension ObjectReference {
  /// What the object names if this is in it, in the order of the item tree and of the files.
  package func references(in content: ObjectContent) -> [ObjectReference] {
    switch content {
    case .record(let revision): revision.references
    case .page(let page): page.references(at: place)
    case .index(let index): item.map { index.references(of: $0, byteCount: byteCount ?? 0) } ?? []
    case .end: []
    }
  }

  /// - Throws: When an object with this in it may not be read here: a page that is none, or stands where it does not belong.
  ///   Whoever reads it is kept from it, and whoever only carries it need not be.
  package func check(_ content: ObjectContent) throws(ModelError) {
    guard case .page(let page) = content else { return }
    _ = try ItemNode(page: page, name: digest, place: place)
  }

  private var place: ItemPlace { if case .tree(let place) = position { place } else { .root } }
}

extension RecordRevision {
  /// The pages or items, and what the note needs; not the revisions that it replaced.
  package var references: [ObjectReference] {
    let note = document.map(\.references) ?? []
    guard let page = items.rootPage else { return note + items.loadedItems.flatMap(\.references) }
    return note + [ObjectReference(page, .page, at: .tree(.root))]
  }
}

extension ItemPage {
  func references(at place: ItemPlace) -> [ObjectReference] {
    switch self {
    case .leaf(let items): items.flatMap(\.references)
    // What is deeper cannot be read.
    case .branch where place.depth >= Limits.treeDepth: []
    case .branch(let children):
      children.enumerated().compactMap { index, child in
        child.map { ObjectReference($0, .page, at: .tree(place.child(index))) }
      }
    }
  }
}

extension Item {
  /// What the content needs. A tombstone needs nothing, whatever it says: nobody can open it.
  package var references: [ObjectReference] {
    if isDeleted { return [] }
    switch content {
    case .none, .inline, .symlink: return []
    case .chunks(let names): return name.references(to: names, .chunk, byteCount: size)
    case .indexes(let names): return name.references(to: names, .index, byteCount: size)
    }
  }
}

extension ChunkIndex {
  func references(of item: FileName, byteCount: UInt64) -> [ObjectReference] {
    item.references(to: chunks, .chunk, byteCount: byteCount)
  }
}

extension FileName {
  /// The parts of the content of the item with this name, of which each but the last stands for as many bytes; nil is a
  /// hole.
  fileprivate func references(
    to names: [ContentDigest?], _ kind: ObjectKind, byteCount: UInt64
  ) -> [ObjectReference] {
    let step = UInt64(Limits.chunkBytes) * (kind == .index ? UInt64(ChunkIndex.capacity) : 1)
    return names.enumerated().compactMap { number, digest in
      guard let digest else { return nil }
      let start = UInt64(number) * step
      let part = ObjectReference.ItemPart(
        item: self, byteCount: byteCount > start ? min(byteCount - start, step) : 0)
      return ObjectReference(digest, kind, part: part, at: .part(number))
    }
  }
}
