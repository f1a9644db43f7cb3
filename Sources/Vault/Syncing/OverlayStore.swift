import BlobStore

/// A store as it would look with some blobs more: for verifying files together before any of them is put in place.
///
/// Reading only; whatever would change it throws `readOnly`.
struct OverlayStore: BlobStore {
  let base: any BlobStore
  private(set) var added: [BlobPath: [UInt8]] = [:]
  // What `list` adds to the folders of the base.
  private var folders: [BlobPath: [String: BlobEntry]] = [:]

  init(_ base: any BlobStore) { self.base = base }

  /// Lets a blob show, in the place of the base's if it has one.
  mutating func add(_ path: BlobPath, _ bytes: [UInt8]) {
    added[path] = bytes
    var entry = BlobEntry(
      name: path.name, kind: .blob, size: UInt64(bytes.count), fingerprint: UInt64.max)
    var folder = path.parent
    while let above = folder {
      folders[above, default: [:]][entry.name] = entry
      if above.isRoot { return }
      entry = BlobEntry(name: above.name, kind: .folder, size: 0, fingerprint: 0)
      folder = above.parent
    }
  }

  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    guard let bytes = added[path] else { return try base.read(path, limit: limit) }
    guard bytes.count <= limit else {
      throw .tooLarge(path: path.string, size: UInt64(bytes.count), limit: limit)
    }
    return bytes
  }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    guard let bytes = added[path] else { return try base.read(path, at: offset, count: count) }
    return Array(bytes.dropFirst(Int(clamping: offset)).prefix(count))
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    if let bytes = added[path] { return UInt64(bytes.count) }
    return try base.size(of: path)
  }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    let listed = try base.list(folder)
    guard let more = folders[folder] else { return listed }
    let kept = listed.filter { more[$0.name] == nil || $0.isFolder }
    let names = Set(kept.map(\.name))
    let new = more.values.filter { !names.contains($0.name) }
    return (kept + new).sorted { $0.name < $1.name }
  }

  var decidesRaces: Bool { false }

  func put(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition)
    throws(BlobStoreError)
  {
    throw .readOnly(path: path.string)
  }

  func remove(_ path: BlobPath) throws(BlobStoreError) { throw .readOnly(path: path.string) }

  func flush() throws(BlobStoreError) {}
}
