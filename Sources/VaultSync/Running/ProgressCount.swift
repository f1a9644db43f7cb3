import Threads
import Vault

/// Adds up work of several threads, and tells of it now and then.
final class ProgressCount: Sendable {
  private let label: String
  private let total: UInt64
  private let tell: @Sendable (WorkProgress) -> Void
  private let state = Guarded((done: UInt64(0), told: UInt64(0)))

  /// Told every so many bytes.
  private static let step: UInt64 = 4 << 20

  init(label: String, total: UInt64, _ tell: @escaping @Sendable (WorkProgress) -> Void) {
    self.label = label
    self.total = total
    self.tell = tell
  }

  func add(_ amount: UInt64) {
    let done = state.withLock { state -> UInt64? in
      state.done += amount
      guard state.done - state.told >= Self.step || state.done == total else { return nil }
      state.told = state.done
      return state.done
    }
    if let done { tell(WorkProgress(label: label, done: done, total: total)) }
  }
}
