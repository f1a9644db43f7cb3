import BlobStore
import SystemPackage

/// A program that keeps names and words of files in a database, to find files by them.
///
/// What an indexer deletes stays in the file of its database until something else is written there, so nothing less
/// than the database can be removed. The indexer makes a new one when it runs next.
enum Indexer: CaseIterable {
  /// Tracker, GNOME's: SQLite.
  case tracker
  /// KDE's: LMDB.
  case baloo
  /// Xapian.
  case recoll

  /// The folder in which the database is and nothing else, below a folder of the user.
  func folder(in places: TracePlaces) -> (above: FilePath, path: BlobPath) {
    switch self {
    case .tracker: (places.cache, "tracker3/files")
    case .baloo: (places.data, "baloo")
    case .recoll: (places.home, ".recoll/xapiandb")
    }
  }

  /// A file in the folder that is locked as long as the indexer uses the database.
  var lockedFile: String {
    switch self {
    case .tracker: "meta.db"
    case .baloo: "index-lock"
    case .recoll: "flintlock"
    }
  }

  /// The command that removes the database while the indexer runs.
  var resetCommand: String {
    switch self {
    case .tracker: "tracker3 reset --filesystem"
    case .baloo: "balooctl purge"
    case .recoll: "recollindex -z"
    }
  }
}
