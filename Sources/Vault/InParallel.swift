import Dispatch
import Threads
import VaultErrors

/// Calls `body` with every item, on as many threads as there are processors.
///
/// - Returns: What it gave, in the order of the items.
/// - Throws: Of the items that fail, what the first of them threw; those after it may not have been begun.
package func inParallel<Item: Sendable, Result: Sendable>(
  _ items: [Item], _ body: @escaping @Sendable (Item) throws(VaultError) -> Result
) throws(VaultError) -> [Result] {
  let state = Guarded(
    (results: [Result?](repeating: nil, count: items.count), failure: (Int, VaultError)?.none))
  DispatchQueue.concurrentPerform(iterations: items.count) { position in
    guard state.withLock({ $0.failure.map { position < $0.0 } ?? true }) else { return }
    do throws(VaultError) {
      let result = try body(items[position])
      state.withLock { $0.results[position] = result }
    } catch {
      state.withLock { state in
        if state.failure.map({ position < $0.0 }) ?? true { state.failure = (position, error) }
      }
    }
  }
  let (results, failure) = state.withLock { $0 }
  if let (_, error) = failure { throw error }
  return results.compactMap(\.self)
}
