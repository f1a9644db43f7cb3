import BlobStore
import SystemPackage

/// What Okular keeps of a document: where it was scrolled to, and notes that are not in the document. A file for each,
/// which says in its first tag what document it is of.
extension TraceLook {
  mutating func okularViews(in folder: FilePath) {
    guard let store = open(folder) else { return }
    do {
      for file in try store.list(.root) where file.kind == .blob && file.name.hasSuffix(".xml") {
        guard let path = BlobPath.root.child(named: file.name) else { continue }
        do { try okularView(at: path, in: store) } catch .notFound {
          // Okular writes at any time.
          continue
        }
      }
    } catch {
      note(folder, error)
    }
  }

  private mutating func okularView(
    at path: BlobPath, in store: DirectoryStore
  ) throws(BlobStoreError) {
    let bytes = try store.read(path, limit: Self.listByteLimit)
    let place = store.folder.appending(path.string)
    do {
      var scanner = XMLScanner(bytes)
      guard let tag = try scanner.nextTag(), tag.name.elementsEqual("documentInfo".utf8),
        let written = try scanner.value(of: "url", in: tag),
        let named = written.first == UInt8(ascii: "/") ? written : FileURI.path(of: written),
        mounted.hold(named)
      else { return }
      found(Trace(kind: .okularView, place: place, path: named), at: path, in: store)
    } catch {
      note(place, error.reason)
    }
  }
}
