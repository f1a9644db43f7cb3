import BlobStore
import Glibc
import SystemPackage

/// Looks for what other programs keep of the files below some mountpoints, and removes it.
///
/// Only what names such a path in so many words is ever removed, of an indexer the database that does, and no symbolic
/// link below the folders of `TracePlaces` is followed. What cannot be read or removed stands in the report, and the rest
/// is done.
package struct TraceSearch {
  private let places: TracePlaces
  private let mounted: MountedPaths
  /// The name of this account.
  private let user: String

  package init(_ places: TracePlaces, below mounted: MountedPaths, user: String) {
    self.places = places
    self.mounted = mounted
    self.user = user
  }

  /// What is kept now.
  package func find() -> TraceReport { look(.nothing) }

  /// Removes what is kept, and says what that was.
  ///
  /// - Parameter sparesUnsavedWork: Leaves what a crash has left of somebody's work, for when nobody has asked.
  package func remove(sparesUnsavedWork: Bool) -> TraceReport {
    look(sparesUnsavedWork ? .butUnsavedWork : .everything)
  }

  private func look(_ removal: TraceLook.Removal) -> TraceReport {
    if mounted.isEmpty { return TraceReport() }
    let home = Array(places.home.string.utf8)
    var look = TraceLook(mounted: mounted, removal: removal)
    look.previews(in: places.cache, "thumbnails")
    look.previews(in: places.home, ".thumbnails")
    look.list(.recentFile, in: places.data, "recently-used.xbel") {
      (bytes) throws(MalformedList) in try RecentFilesList.entries(in: bytes)
    }
    for path: BlobPath in [".viminfo", ".vim/viminfo"] {
      look.list(.vimHistory, in: places.home, path) {
        VimHistoryList.entries(in: $0, home: home, user: user)
      }
    }
    for folder in [places.data.appending("nano"), places.home.appending(".nano")] {
      look.list(.nanoHistory, in: folder, "filepos_history") { NanoHistoryList.entries(in: $0) }
    }
    look.libreOffice(in: places.configuration.appending("libreoffice/4/user"))
    look.list(.okularHistory, in: places.configuration, "okularrc") {
      OkularRecentList.entries(in: $0, home: home)
    }
    look.okularViews(in: places.data.appending("okular/docdata"))
    for indexer in Indexer.allCases { look.index(of: indexer, in: places) }
    for folder in [places.home.appending("tmp")] + places.shared {
      look.swapFiles(in: folder, home: home, user: user)
    }
    for folder in places.undoFolders { look.undoFiles(in: folder) }
    return look.report
  }
}

/// One look through everything.
struct TraceLook {
  /// A list of more bytes is no list that a program could have written.
  static let listByteLimit = 32 << 20

  enum Removal { case nothing, butUnsavedWork, everything }

  let mounted: MountedPaths
  let removal: Removal
  var report = TraceReport()

  var removes: Bool { removal != .nothing }

  /// Whether what is of this kind is left though others are removed.
  func spares(_ kind: Trace.Kind) -> Bool {
    removal == .butUnsavedWork && kind.mayBeUnsavedWork
  }

  /// Nil where there is no such folder. One that another user owns is not this user's to change, unless it is for all.
  mutating func open(_ folder: FilePath, isShared: Bool = false) -> DirectoryStore? {
    do {
      let store = try DirectoryStore(opening: folder)
      guard isShared || Self.owner(of: folder) == geteuid() else {
        note(folder, "it belongs to another user")
        return nil
      }
      return store
    } catch {
      if case .notFound = error { return nil }
      note(folder, error)
      return nil
    }
  }

  /// Removes the file if this is to be; in any case it is in the report.
  mutating func found(_ trace: Trace, at path: BlobPath, in store: DirectoryStore) {
    if spares(trace.kind) { return report.unsavedWork.append(trace) }
    do {
      if removes { try store.remove(path) }
      report.traces.append(trace)
    } catch {
      note(store.folder, error)
    }
  }

  /// The entries of a list that a program keeps in one file. The others stay as they are, and the file is replaced whole.
  mutating func list(
    _ kind: Trace.Kind, in folder: FilePath, _ path: BlobPath,
    entries: ([UInt8]) throws(MalformedList) -> [ListEntry]
  ) {
    guard let store = open(folder) else { return }
    let place = folder.appending(path.string)
    do {
      let bytes = try store.read(path, limit: Self.listByteLimit)
      let all: [ListEntry]
      do { all = try entries(bytes) } catch { return note(place, error.reason) }
      let ours = all.filter { mounted.hold($0.path) }
      if ours.isEmpty { return }
      if removes { try store.replace(path, bytes.removing(ours), durably: true) }
      report.traces += ours.map { Trace(kind: kind, place: place, path: $0.path) }
    } catch {
      if case .notFound = error { return }
      note(folder, error)
    }
  }

  /// So many bytes of a file from an offset on; fewer only at its end.
  static func read(
    _ reader: any BlobReader, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    var failure: BlobStoreError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(BlobStoreError) {
        filled = try reader.read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  mutating func note(_ place: FilePath, _ reason: String) {
    report.failures.append(.init(place: place.string, reason: reason))
  }

  /// `error` names a path below `folder`.
  mutating func note(_ folder: FilePath, _ error: BlobStoreError) {
    note(folder, error.message)
  }

  /// Nil where nothing is. A link at the end counts as what it leads to, as in opening.
  private static func owner(of folder: FilePath) -> uid_t? {
    var status = stat()
    return folder.withPlatformString { stat($0, &status) } == 0 ? status.st_uid : nil
  }
}
