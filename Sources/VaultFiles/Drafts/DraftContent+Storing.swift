import VaultModel

/// Content as items hold it.
extension DraftContent {
  /// The lists of a long file's chunks, of which the table is still to be built; nil of a short one, and once it is built.
  var missingLists: [ContentDigest]? {
    guard loaded == nil, case .indexes(let lists) = sealed.content else { return nil }
    return lists
  }

  /// Builds the table of chunks if it is not there. Reads the lists that are missing: who only reads has them read before,
  /// without the lock.
  mutating func load() throws(FileError) {
    guard loaded == nil else { return }
    try build(of: store.chunks(in: missingLists ?? []))
  }

  /// Builds the table of what stands in these lists, if it is they that are missing.
  mutating func load(_ chunks: [ContentDigest?], of lists: [ContentDigest]) {
    if missingLists == lists { build(of: chunks) }
  }

  private mutating func build(of listed: [ContentDigest?]) {
    let layout = resources.layout
    var names = listed
    var inline: [UInt8]?
    switch sealed.content {
    case .none, .symlink, .indexes: break
    case .inline(let bytes): inline = bytes
    case .chunks(let chunks): names = chunks
    }
    let held = Dictionary(sealed.objects.map { ($0.digest, $0) }) { first, _ in first }
    let objects = names.map { name in name.map { held[$0] ?? StoredObject($0) } }
    var state = DraftState(layout: layout, size: sealed.size, objects: objects)
    if let inline {
      inline.withUnsafeBytes { bytes in
        let present = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: sealed.size)))
        _ = state.write(present, at: 0, pool: resources.pool)
      }
    }
    sealed.dataByteCount = state.dataByteCount
    loaded = state
  }

  /// Sealed chunks as an item's content, and all objects that it needs; puts index objects where there are many chunks.
  ///
  func storedContent(
    _ state: DraftState
  ) throws(FileError) -> (content: Item.Content, objects: [StoredObject]) {
    guard let chunks = state.sealedObjects else { preconditionFailure("all chunks were sealed") }
    let (names, objects) = (chunks.map { $0?.digest }, chunks.compactMap { $0 })
    if names.isEmpty { return (.none, []) }
    if names.count <= Limits.inlineChunks { return (.chunks(names), objects) }
    var indexes: [StoredObject] = []
    for start in stride(from: 0, to: names.count, by: ChunkIndex.capacity) {
      let end = min(names.count, start + ChunkIndex.capacity)
      let page = ChunkIndex(chunks: Array(names[start..<end])).encoded()
      indexes.append(try put(page))
    }
    return (.indexes(indexes.map(\.digest)), objects + indexes)
  }

  private func put(_ page: [UInt8]) throws(FileError) -> StoredObject {
    let result: Result<StoredObject, FileError> = page.withUnsafeBytes { bytes in
      do throws(FileError) { return .success(try store.put(.index, bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
