import BlobStore
import SystemPackage

/// LibreOffice's list of recent documents, and the copies that it makes of open ones for a crash.
extension TraceLook {
  /// - Parameter profile: The folder of its settings.
  mutating func libreOffice(in profile: FilePath) {
    guard let store = open(profile) else { return }
    let path: BlobPath = "registrymodifications.xcu"
    let place = profile.appending(path.string)
    do {
      let bytes = try store.read(path, limit: Self.listByteLimit)
      let settings: LibreOfficeSettings
      do { settings = try LibreOfficeSettings(parsing: bytes) } catch {
        return note(place, error.reason)
      }
      // The copies go first: nothing but the settings says what they are of. Where one stays, so does what is said of it.
      var ours: Set<Int> = []
      for (index, document) in settings.documents.enumerated() where mounted.hold(document.path) {
        if try copy(of: document, in: store), spares(.libreOfficeCopy) { continue }
        ours.insert(index)
      }
      if ours.isEmpty { return }
      if removes { try store.replace(path, settings.removing(ours), durably: true) }
      report.traces += ours.sorted().map {
        Trace(kind: .libreOfficeHistory, place: place, path: settings.documents[$0].path)
      }
    } catch {
      if case .notFound = error { return }
      note(profile, error)
    }
  }

  /// - Returns: Whether there is one, or was.
  private mutating func copy(
    of document: LibreOfficeSettings.Document, in profile: DirectoryStore
  ) throws(BlobStoreError) -> Bool {
    let folder: BlobPath = "backup"
    guard let path = document.copy.flatMap(folder.child), try profile.size(of: path) != nil
    else { return false }
    let place = profile.folder.appending(path.string)
    found(Trace(kind: .libreOfficeCopy, place: place, path: document.path), at: path, in: profile)
    return true
  }
}
