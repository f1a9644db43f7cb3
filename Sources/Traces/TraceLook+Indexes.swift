import BlobStore
import Glibc
import SystemPackage

/// Databases of file indexers, which go whole, and not while the indexer runs: it would write on into what is gone.
extension TraceLook {
  mutating func index(of indexer: Indexer, in places: TracePlaces) {
    let (above, path) = indexer.folder(in: places)
    guard let store = open(above) else { return }
    let place = above.appending(path.string)
    do {
      let found = try mountpoints(in: path, of: store, indexer)
      if found.isEmpty { return }
      if removes {
        if Self.isLocked(place.appending(indexer.lockedFile)) {
          return note(
            place, "its indexer runs; this removes its database: \(indexer.resetCommand)")
        }
        try store.removeFolder(path)
      }
      report.traces += found.map { Trace(kind: .fileIndex, place: place, path: $0) }
    } catch {
      if case .notFound = error { return }
      note(above, error)
    }
  }

  /// The mountpoints below which the database knows something.
  private func mountpoints(
    in folder: BlobPath, of store: DirectoryStore, _ indexer: Indexer
  ) throws(BlobStoreError) -> [[UInt8]] {
    var found: Set<[UInt8]> = []
    for file in try store.list(folder) where file.kind == .blob {
      guard let path = folder.child(named: file.name) else { continue }
      do {
        let reader = try store.openForReading(path)
        switch indexer {
        case .baloo: found.formUnion(try mountpoints(inBaloo: reader))
        case .tracker: found.formUnion(try mountpoints(inURIs: reader))
        case .recoll: found.formUnion(try mountpoints(inPaths: reader))
        }
      } catch {
        // Databases have files that come and go.
        if case .notFound = error { continue }
        throw error
      }
    }
    return found.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Of the mountpoint's own URI a database may know, and what follows there is whatever the database has next: with the
  /// length of an entry that can be a slash. So a name has to begin behind the slash, which in a URI is printable ASCII.
  private func mountpoints(inURIs reader: any BlobReader) throws(BlobStoreError) -> [[UInt8]] {
    try mountpoints(
      in: reader, before: 0x21...0x7E, as: { Array("file://".utf8) + FileURI.escaped($0) })
  }

  private func mountpoints(inPaths reader: any BlobReader) throws(BlobStoreError) -> [[UInt8]] {
    try mountpoints(in: reader, before: 0x20...0xFF, as: { $0 })
  }

  private func mountpoints(
    in reader: any BlobReader, before next: ClosedRange<UInt8>, as text: ([UInt8]) -> [UInt8]
  ) throws(BlobStoreError) -> [[UInt8]] {
    let paths = mounted.texts
    let scan = TextScan(for: paths.map { text($0) + Array("/".utf8) }, before: next)
    return try scan.found { (offset, count) throws(BlobStoreError) in
      try Self.read(reader, at: offset, count: count)
    }.map { paths[$0] }
  }

  private func mountpoints(inBaloo reader: any BlobReader) throws(BlobStoreError) -> [[UInt8]] {
    let paths = mounted.texts
    let names = paths.map { MountedPaths.parts(of: $0) ?? [] }
    let index = try BalooIndex.load(for: names) { (offset, count) throws(BlobStoreError) in
      try Self.read(reader, at: offset, count: count)
    }
    return zip(paths, names).filter { index.hasEntries(below: $0.1) }.map(\.0)
  }

  /// Whether a program holds a lock on the file. Asking takes none.
  private static func isLocked(_ file: FilePath) -> Bool {
    let descriptor = file.withPlatformString {
      Glibc.open($0, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }
}
