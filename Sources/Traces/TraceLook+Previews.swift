import BlobStore
import SystemPackage

/// Caches of previews (Thumbnail Managing Standard): a folder for each size, and in `fail` one for each program.
extension TraceLook {
  mutating func previews(in folder: FilePath, _ cache: BlobPath) {
    guard let store = open(folder) else { return }
    do {
      for size in try store.list(cache) {
        guard let path = cache.child(named: size.name) else { continue }
        switch size.kind {
        case .folder where size.name == "fail":
          for program in try store.list(path) where program.isFolder {
            if let path = path.child(named: program.name) {
              previews(.failedPreview, in: path, of: store)
            }
          }
        case .folder: previews(.preview, in: path, of: store)
        case .other:
          note(
            folder.appending(path.string),
            "it is a link, which is not followed: look there yourself")
        case .blob: continue
        }
      }
    } catch {
      if case .notFound = error { return }
      note(folder, error)
    }
  }

  private mutating func previews(
    _ kind: Trace.Kind, in folder: BlobPath, of store: DirectoryStore
  ) {
    do {
      for file in try store.list(folder) where file.kind == .blob {
        guard let path = folder.child(named: file.name) else { continue }
        preview(kind, at: path, of: store)
      }
    } catch {
      note(store.folder, error)
    }
  }

  private mutating func preview(_ kind: Trace.Kind, at path: BlobPath, of store: DirectoryStore) {
    let text: [UInt8]?
    do {
      let reader = try store.openForReading(path)
      text = try PNGText.value(of: "Thumb::URI") { (offset, count) throws(BlobStoreError) in
        try Self.read(reader, at: offset, count: count)
      }
    } catch {
      // Caches are cleared at any time.
      if case .notFound = error { return }
      return note(store.folder, error)
    }
    guard let text, let named = FileURI.path(of: text), mounted.hold(named) else { return }
    let trace = Trace(kind: kind, place: store.folder.appending(path.string), path: named)
    found(trace, at: path, in: store)
  }
}
