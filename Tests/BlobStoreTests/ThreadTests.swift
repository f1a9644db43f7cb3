import Glibc
import Testing
import Threads

/// Threads that wait for more work when theirs is done.
@Suite struct ThreadTests {
  private final class Held: Sendable {
    let count = Guarded(0)
    func use() { count.withLock { $0 += 1 } }
  }

  /// It waits for seconds, and goes on for as long as there is work: keys and locks are not to live for as long.
  @Test func aThreadThatWaitsHoldsNothingOfWhatItDid() {
    // On a new thread, if there is none that waits, then on one that waits.
    for _ in 0..<2 {
      // A busy machine may not let it run for as long now and then; one that held something would do so each time.
      let isLetGoOf = (0..<10).contains { _ in isLetGoOfByAThreadThatWaits() }
      #expect(isLetGoOf)
    }
  }

  private func isLetGoOfByAThreadThatWaits() -> Bool {
    weak var held: Held?
    do {
      let object = Held()
      held = object
      let isStarted = SystemThread.detach { object.use() }
      #expect(isStarted)
    }
    // Less than it waits.
    for _ in 0..<400 {
      if held == nil { return true }
      usleep(10_000)
    }
    return false
  }

  @Test func nobodyHoldsWhatIsDoneWithItemsWhenAllAreDone() {
    weak var held: Held?
    for _ in 0..<20 {
      do {
        let object = Held()
        held = object
        WorkQueue.forEach(Array(0..<100), threadCount: 8) { _ in object.use() }
        let count = object.count.withLock { $0 }
        #expect(count == 100)
      }
      #expect(held == nil)
    }
  }
}
