import BlobStore

/// Folders as a store shows them: they are where blobs are.
extension MemoryImage {
  func isFolder(_ path: BlobPath) -> Bool {
    path.isRoot || names.keys.contains { $0.string.hasPrefix("\(path)/") }
  }

  func paths(under folder: BlobPath) -> [BlobPath] {
    names.keys.filter { $0.string.hasPrefix("\(folder)/") }.sorted { $0.string < $1.string }
  }

  func entries(of folder: BlobPath) -> [BlobEntry] {
    var entries: [String: BlobEntry] = [:]
    let prefix = folder.isRoot ? "" : "\(folder)/"
    for path in names.keys where path.string.hasPrefix(prefix) {
      let rest = path.string.dropFirst(prefix.count)
      let name = String(rest.prefix { $0 != "/" })
      let isBlob = name.count == rest.count
      entries[name] = BlobEntry(
        name: name, kind: isBlob ? .blob : .folder,
        size: isBlob ? UInt64(bytes(at: path)?.count ?? 0) : 0,
        fingerprint: UInt64(names[path] ?? 0))
    }
    return entries.values.sorted { $0.name < $1.name }
  }

  /// Throws unless a new blob may be made here.
  func requireFree(_ path: BlobPath) throws(BlobStoreError) {
    if names[path] != nil || isFolder(path) { throw .alreadyExists(path: path.string) }
    try requireFolders(above: path)
  }

  /// Throws unless a blob may be put, replaced or removed here.
  func requireBlobOrNothing(_ path: BlobPath) throws(BlobStoreError) {
    if isFolder(path) { throw .notABlob(path: path.string) }
    try requireFolders(above: path)
  }

  private func requireFolders(above path: BlobPath) throws(BlobStoreError) {
    var folder = path.parent
    while let above = folder {
      if names[above] != nil { throw .notABlob(path: path.string) }
      folder = above.parent
    }
  }
}
