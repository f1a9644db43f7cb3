import BlobStore
import Synchronization

/// Fails calls on purpose, before they reach the store behind it.
package final class FaultyStore: InspectingStore {
  /// What a failing call throws; the call's own path is filled in.
  package enum Fault: Hashable, Sendable {
    case noSpace, readOnly, permission, notFound
    case io(errno: Int32)

    func error(at path: BlobPath) -> BlobStoreError {
      switch self {
      case .noSpace: .noSpace(path: path.string)
      case .readOnly: .readOnly(path: path.string)
      case .permission: .permission(path: path.string)
      case .notFound: .notFound(path: path.string)
      case .io(let errno): .io(path: path.string, errno: errno)
      }
    }
  }

  private struct Plan {
    var fault: Fault
    /// Counted from 1 at the time of planning.
    var calls: ClosedRange<Int>
    var seen = 0
  }

  package let inner: any BlobStore
  private let plans = Mutex<[StoreCall.Kind: Plan]>([:])

  package init(_ inner: any BlobStore) {
    self.inner = inner
  }

  /// From now on the `number`-th call of a kind fails (the first is 1), and with `andAllLater` those after it.
  /// A later plan for a kind replaces an earlier one.
  package func fail(
    _ kind: StoreCall.Kind, number: Int = 1, andAllLater: Bool = false, with fault: Fault
  ) {
    plans.withLock {
      $0[kind] = Plan(fault: fault, calls: number...(andAllLater ? Int.max : number))
    }
  }

  package func failNothing() {
    plans.withLock { $0 = [:] }
  }

  package func inspect(_ call: StoreCall) throws(BlobStoreError) {
    let fault = plans.withLock { plans -> Fault? in
      plans[call.kind]?.seen += 1
      guard let plan = plans[call.kind], plan.calls.contains(plan.seen) else { return nil }
      return plan.fault
    }
    if let fault { throw fault.error(at: call.path) }
  }
}
