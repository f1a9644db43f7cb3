import Dispatch
import Glibc
import Testing
import Threads

@testable import BlobStore

/// Two barriers of one store at once: the first takes over what both callers have written.
@Suite struct BarrierTurnsTests {
  private static let lost = BlobStoreError.io(path: "", errno: EIO)

  /// What a barrier ended with, and whether that was before the one which began before it ended.
  private struct Outcome {
    var error: BlobStoreError?
    var isEarly = false
  }

  /// Runs a barrier that ends with an error or without, and a second one that begins meanwhile and has nothing to wait for.
  /// - Parameter delay: How long the second one has to begin, in microseconds.
  private func second(
    beside error: BlobStoreError?, _ turns: BarrierTurns, within delay: UInt32
  ) -> Outcome {
    let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (hasCome, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirstOver = Guarded(false)
    let outcome = Guarded(Outcome())
    let isRunning = SystemThread.detach {
      try? turns.take { () throws(BlobStoreError) in
        began.signal()
        mayEnd.wait()
        isFirstOver.withLock { $0 = true }
        if let error { throw error }
      }
    }
    #expect(isRunning)
    began.wait()
    let isRunningToo = SystemThread.detach {
      hasCome.signal()
      var found = Outcome()
      do throws(BlobStoreError) { try turns.take {} } catch { found.error = error }
      found.isEarly = isFirstOver.withLock { !$0 }
      outcome.withLock { $0 = found }
      isOver.signal()
    }
    #expect(isRunningToo)
    hasCome.wait()
    usleep(delay)
    mayEnd.signal()
    isOver.wait()
    return outcome.withLock { $0 }
  }

  @Test func theSecondOneWaitsForTheFirst() {
    // Long enough for one that does not wait to be over.
    let found = second(beside: nil, BarrierTurns(), within: 300_000)
    #expect(!found.isEarly && found.error == nil)
  }

  /// What the second caller wrote was among what the first one waited for, and the kernel tells an error once.
  @Test func whatTheFirstOneLostTheSecondOneIsToldAsWell() throws {
    let turns = BarrierTurns()
    // On a machine that has much else to do it may come too late.
    let delays: [UInt32] = [20_000, 200_000, 2_000_000, 10_000_000]
    #expect(delays.contains { second(beside: Self.lost, turns, within: $0).error == Self.lost })
    // Whoever comes later has written later.
    try turns.take {}
    #expect(throws: Self.lost) { try turns.take { () throws(BlobStoreError) in throw Self.lost } }
  }
}
