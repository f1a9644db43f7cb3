import BlobStore
import Glibc
import Synchronization

/// Fails, delays, tears and repeats calls on purpose.
package final class FaultyStore: InspectingStore {
  /// What becomes of a call. Those that throw, throw with the call's own path.
  package enum Fault: Hashable, Sendable {
    // Before the call reaches the store behind.
    case noSpace, readOnly, permission, notFound, unreachable, timedOut, throttled, denied
    case io(errno: Int32)
    /// The call comes late, and is made.
    case delay(Duration)

    // These are meant for `read`, `put` and `remove`, and mean `timedOut` to other calls.

    /// The call is made; its reply gets lost, so the caller gets `timedOut`.
    case lostReply
    /// The call is made twice: the first reply got lost somewhere below the caller.
    case repeated
    /// Half the bytes arrive. `read` returns them; `put` leaves them under the name and throws `unreachable`, as a
    /// server that is no good would.
    case torn

    fileprivate func error(at path: BlobPath) -> BlobStoreError {
      switch self {
      case .noSpace: .noSpace(path: path.string)
      case .readOnly: .readOnly(path: path.string)
      case .permission: .permission(path: path.string)
      case .notFound: .notFound(path: path.string)
      case .unreachable: .unreachable(path: path.string, reason: "on purpose")
      case .throttled: .throttled(path: path.string)
      case .denied: .denied(path: path.string, reason: "on purpose")
      case .io(let errno): .io(path: path.string, errno: errno)
      case .timedOut, .delay, .lostReply, .repeated, .torn: .timedOut(path: path.string)
      }
    }
  }

  private struct Plan {
    var fault: Fault
    /// Counted from 1 at the time of planning.
    var calls: ClosedRange<Int>
    var seen = 0
  }

  package let inner: any LocalStore
  private let plans = Mutex<[StoreCall.Kind: Plan]>([:])

  package init(_ inner: any LocalStore) {
    self.inner = inner
  }

  /// From now on the `number`-th call of a kind fails (the first is 1), and with `andAllLater` those after it.
  /// A later plan for a kind replaces an earlier one.
  package func fail(
    _ kind: StoreCall.Kind, number: Int = 1, andAllLater: Bool = false, with fault: Fault
  ) {
    fail(kind, numbers: number...(andAllLater ? Int.max : number), with: fault)
  }

  package func fail(_ kind: StoreCall.Kind, numbers: ClosedRange<Int>, with fault: Fault) {
    plans.withLock { $0[kind] = Plan(fault: fault, calls: numbers) }
  }

  package func failNothing() {
    plans.withLock { $0 = [:] }
  }

  private func nextFault(_ kind: StoreCall.Kind) -> Fault? {
    plans.withLock { plans in
      plans[kind]?.seen += 1
      guard let plan = plans[kind], plan.calls.contains(plan.seen) else { return nil }
      return plan.fault
    }
  }

  package func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard let fault = nextFault(call.kind) else { return }
    guard case .delay(let duration) = fault else { throw fault.error(at: call.path) }
    Self.sleep(duration)
  }

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    guard let fault = nextFault(.read) else { return try inner.read(path, limit: limit) }
    let bytes = try carryOut(fault == .torn ? .delay(.zero) : fault, path) {
      () throws(BlobStoreError) in try inner.read(path, limit: limit)
    }
    return fault == .torn ? Array(bytes.prefix(bytes.count / 2)) : bytes
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    guard let fault = nextFault(.put) else { return try inner.put(path, bytes, condition) }
    if fault == .torn {
      try inner.put(path, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), condition)
      throw .unreachable(path: path.string, reason: "on purpose")
    }
    try carryOut(fault, path) { () throws(BlobStoreError) in
      try inner.put(path, bytes, condition)
    }
  }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    guard let fault = nextFault(.remove) else { return try inner.remove(path) }
    try carryOut(fault, path) { () throws(BlobStoreError) in try inner.remove(path) }
  }

  private func carryOut<Value>(
    _ fault: Fault, _ path: BlobPath, _ call: () throws(BlobStoreError) -> Value
  ) throws(BlobStoreError) -> Value {
    switch fault {
    case .delay(let duration):
      Self.sleep(duration)
      return try call()
    case .lostReply:
      _ = try call()
      throw fault.error(at: path)
    case .repeated:
      _ = try call()
      return try call()
    default: throw fault.error(at: path)
    }
  }

  private static func sleep(_ duration: Duration) {
    usleep(UInt32(min(duration / .microseconds(1), 4e9)))
  }
}
