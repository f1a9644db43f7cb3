import Threads

/// One barrier of a store at a time.
///
/// A barrier takes over what all callers have done before it, and the kernel tells an error of writing back once. So a second
/// one that begins meanwhile finds nothing to wait for, and must not end before the first one has; and where that one fails, it
/// fails as well, since what its caller has done was among what the first one waited for. A caller who is still writing when a
/// barrier fails, and comes later, is not told here: who writes for a while counts the failures meanwhile.
final class BarrierTurns: Sendable {
  private struct State {
    /// How many callers have come.
    var callers: UInt64 = 0
    /// Those up to this one had come when a barrier failed, the last one that did.
    var failure: (upTo: UInt64, error: BlobStoreError)?
  }

  private let state = Guarded(State())
  private let turn = Guarded(())

  /// Runs `barrier` once all that began before it are over.
  ///
  /// - Throws: Its error, or that of one which ran after this caller had come.
  func take(_ barrier: () throws(BlobStoreError) -> Void) throws(BlobStoreError) {
    let number = state.withLock { state in
      state.callers += 1
      return state.callers
    }
    try turn.withLock { (_) throws(BlobStoreError) in
      do throws(BlobStoreError) { try barrier() } catch {
        state.withLock { $0.failure = ($0.callers, error) }
        throw error
      }
      if let failure = state.withLock({ $0.failure }), number <= failure.upTo {
        throw failure.error
      }
    }
  }
}
