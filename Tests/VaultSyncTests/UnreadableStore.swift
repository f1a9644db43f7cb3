import BlobStore
import Synchronization
import TestSupport

/// A disk that does not give some files for a while, though they are there and whole.
final class UnreadableStore: InspectingStore {
  let inner: any LocalStore
  private let refused = Mutex<Set<BlobPath>>([])

  init(_ inner: any LocalStore) { self.inner = inner }

  /// These files, and no others, cannot be read from now on.
  func refuse(_ paths: Set<BlobPath>) { refused.withLock { $0 = paths } }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard [.read, .readRange, .openForReading].contains(call.kind),
      refused.withLock({ $0.contains(call.path) })
    else { return }
    throw .io(path: call.path.string, errno: 5)
  }
}
