import BlobStore

/// Folders as a store shows them: they are where blobs are.
extension MemoryImage {
  func isFolder(_ path: BlobPath) -> Bool { path.isRoot || counts[path] != nil }

  func paths(under folder: BlobPath) -> [BlobPath] {
    names.keys.filter { $0.string.hasPrefix("\(folder)/") }.sorted { $0.string < $1.string }
  }

  func entries(of folder: BlobPath) -> [BlobEntry] {
    (counts[folder] ?? [:]).keys.sorted().map { name in
      let path = folder.appending(name)
      guard let node = names[path] else {
        return BlobEntry(name: name, kind: .folder, size: 0, fingerprint: 0)
      }
      return BlobEntry(
        name: name, kind: .blob, size: UInt64(bytes(at: path)?.count ?? 0),
        fingerprint: UInt64(node))
    }
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
