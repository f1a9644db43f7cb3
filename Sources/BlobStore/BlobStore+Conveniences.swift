extension BlobStore {
  package func create(_ path: BlobPath, _ bytes: [UInt8]) throws(BlobStoreError) {
    try bytes.withBlobBytes { (buffer) throws(BlobStoreError) in try create(path, buffer) }
  }

  package func replace(_ path: BlobPath, _ bytes: [UInt8], durably: Bool) throws(BlobStoreError) {
    try bytes.withBlobBytes { (buffer) throws(BlobStoreError) in
      try replace(path, buffer, durably: durably)
    }
  }

  /// Visits everything under a folder, in a fixed order, a folder before what is in it. What is added or removed
  /// meanwhile may be missed or met; what is gone when its turn comes is passed over.
  ///
  /// Folders deeper than `depth` are visited but not entered, so that a hostile tree cannot exhaust the stack.
  package func walk(
    under folder: BlobPath, depth: Int = 16,
    visit: (BlobPath, BlobEntry) throws(BlobStoreError) -> Void
  ) throws(BlobStoreError) {
    for entry in try list(folder) {
      let path = folder.appending(entry.name)
      try visit(path, entry)
      if entry.isFolder && depth > 1 {
        try walk(under: path, depth: depth - 1, visit: visit)
      }
    }
  }
}

extension [UInt8] {
  /// `withUnsafeBytes`, which does not yet pass typed errors through.
  fileprivate func withBlobBytes(
    _ body: (UnsafeRawBufferPointer) throws(BlobStoreError) -> Void
  ) throws(BlobStoreError) {
    let result = withUnsafeBytes { buffer -> Result<Void, BlobStoreError> in
      do throws(BlobStoreError) {
        return .success(try body(buffer))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
