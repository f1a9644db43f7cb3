import BlobStore
import Synchronization

/// Keeps a log of the calls, in the order in which they began, to check a write order.
package final class RecordingStore: InspectingStore {
  package let inner: any LocalStore
  private let log = Mutex<[StoreCall]>([])

  package init(_ inner: any LocalStore) {
    self.inner = inner
  }

  package func inspect(_ call: StoreCall) {
    log.withLock { $0.append(call) }
  }

  package var calls: [StoreCall] { log.withLock { $0 } }

  package func calls(_ kinds: StoreCall.Kind...) -> [StoreCall] {
    calls.filter { kinds.contains($0.kind) }
  }

  package func forgetCalls() {
    log.withLock { $0 = [] }
  }
}
