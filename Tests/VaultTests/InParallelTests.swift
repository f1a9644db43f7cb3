import Synchronization
import Testing
import VaultErrors
import VaultModel

@testable import Vault

@Suite struct InParallelTests {
  @Test func whatIsGivenKeepsTheOrderOfTheItems() throws {
    let squares = try inParallel(Array(0..<1_000)) { (number) throws(VaultError) in
      number * number
    }
    #expect(squares == (0..<1_000).map { $0 * $0 })
    let nothing = try inParallel([Int]()) { (number) throws(VaultError) in number }
    #expect(nothing.isEmpty)
  }

  /// Whichever thread comes first: a head with a missing segment waits for it, and one with a damaged segment does not.
  @Test func theFirstItemThatFailsIsTold() {
    for _ in 0..<200 {
      let begun = Mutex(0)
      let run = { () throws(VaultError) in
        _ = try inParallel(Array(0..<100)) { (number) throws(VaultError) -> Int in
          begun.withLock { $0 += 1 }
          if number >= 3 { throw .missing(path: "\(number)") }
          return number
        }
      }
      let error = #expect(throws: VaultError.self) { try run() }
      guard case .missing("3")? = error else {
        Issue.record("the error of another item was told: \(String(describing: error))")
        return
      }
      #expect(begun.withLock { $0 } < 100)
    }
  }
}
