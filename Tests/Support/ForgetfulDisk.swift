import BlobStore
import Synchronization

/// Fails a barrier, after which nothing that was written since the one before is on it: what it could not write it says once.
package final class ForgetfulDisk: InspectingStore {
  package let inner: any LocalStore
  private let state = Mutex<(fails: Bool, written: Set<BlobPath>, lost: Set<BlobPath>)>(
    (false, [], []))

  package init(_ inner: any LocalStore) { self.inner = inner }

  /// What can be read, and is not on the disk.
  package var lost: Set<BlobPath> { state.withLock { $0.lost } }

  package func forgetAtNextBarrier() { state.withLock { $0.fails = true } }

  package func inspect(_ call: StoreCall) throws(BlobStoreError) {
    let fails = state.withLock { state in
      switch call.kind {
      case .replace where call.isDurable:
        state.written.remove(call.path)
        state.lost.remove(call.path)
      case .put, .create, .replace:
        state.written.insert(call.path)
        state.lost.remove(call.path)
      // The same bytes on the disk, or not on it.
      case .rename, .renameDurably, .link:
        guard let target = call.target else { break }
        if state.lost.contains(call.path) {
          state.lost.insert(target)
        } else if state.written.contains(call.path) {
          state.written.insert(target)
          state.lost.remove(target)
        }
      case .barrier where state.fails:
        state.fails = false
        state.lost.formUnion(state.written)
        state.written = []
        return true
      case .barrier: state.written = []
      default: break
      }
      return false
    }
    if fails { throw .io(path: call.path.string, errno: 5) }
  }
}
