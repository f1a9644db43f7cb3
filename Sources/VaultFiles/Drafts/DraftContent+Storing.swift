import VaultModel

/// Content as items hold it.
extension DraftContent {
  /// Builds the table of chunks if it is not there.
  mutating func load() throws(FileError) {
    guard loaded == nil else { return }
    let layout = resources.layout
    var names: [ContentDigest?] = []
    var inline: [UInt8]?
    switch sealed.content {
    case .none, .symlink: break
    case .inline(let bytes): inline = bytes
    case .chunks(let chunks): names = chunks
    case .indexes(let indexes):
      for index in indexes { names += try store.index(index) }
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
