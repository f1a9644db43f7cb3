import BlobStore
import SystemPackage

/// LibreOffice's list of recent documents, and the copies that it makes of open ones for a crash.
extension TraceLook {
  /// - Parameter profile: The folder of its settings.
  mutating func libreOffice(in profile: FilePath) {
    guard let store = open(profile) else { return }
    let path: BlobPath = "registrymodifications.xcu"
    let place = profile.appending(path.string)
    do throws(BlobStoreError) {
      let bytes = try store.read(path, limit: Self.listByteLimit)
      let settings: LibreOfficeSettings
      do { settings = try LibreOfficeSettings(parsing: bytes) } catch {
        return note(place, error.reason)
      }
      let ours = settings.documents.filter { mounted.hold($0.path) }
      if ours.isEmpty { return }
      // The copies go first: nothing but the settings says what they are of.
      for document in ours { try copy(of: document, in: store) }
      if removes {
        let kept = settings.removing { mounted.hold($0.path) }
        try store.replace(path, kept, durably: true)
      }
      report.traces += ours.map {
        Trace(kind: .libreOfficeHistory, place: place, path: $0.path)
      }
    } catch {
      if case .notFound = error { return }
      note(profile, error)
    }
  }

  private mutating func copy(
    of document: LibreOfficeSettings.Document, in profile: DirectoryStore
  ) throws(BlobStoreError) {
    let folder: BlobPath = "backup"
    guard let path = document.copy.flatMap(folder.child), try profile.size(of: path) != nil
    else { return }
    let place = profile.folder.appending(path.string)
    found(Trace(kind: .libreOfficeCopy, place: place, path: document.path), at: path, in: profile)
  }
}
