import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import VaultObjects

extension UnsettledObjects {
  fileprivate mutating func write(_ name: ObjectName) {
    let failures = begin(name)
    end(name, since: failures)
  }

  /// A barrier that succeeds, for somebody who began to write after so many had failed; nil: after all of them.
  ///
  /// - Returns: Whether they are told of a failure.
  fileprivate mutating func finish(since failures: UInt64? = nil) -> Bool {
    let number = beginBarrier()
    return succeed(number, since: failures ?? failureCount) != nil
  }

  fileprivate mutating func lose() {
    _ = beginBarrier()
    fail(.io(path: "", errno: 5))
  }
}

/// What a disk may have lost, and does not say once more.
@Suite struct UnsettledObjectsTests {
  private let first = ObjectName.random()
  private let second = ObjectName.random()

  @Test func whatABarrierWasAfterIsNotDoubtful() {
    var objects = UnsettledObjects()
    objects.write(first)
    let isTold = objects.finish()
    objects.write(second)
    objects.lose()
    #expect(!isTold)
    #expect(!objects.isDoubtful(first))
    #expect(objects.isDoubtful(second))
  }

  @Test func onlyWhatIsWrittenAnewIsNotDoubtfulAnyMore() {
    var objects = UnsettledObjects()
    objects.write(first)
    objects.write(second)
    objects.lose()
    objects.write(first)
    _ = objects.finish()
    #expect(!objects.isDoubtful(first))
    #expect(objects.isDoubtful(second))
    // And it may be lost once more.
    objects.write(second)
    objects.lose()
    #expect(!objects.isDoubtful(first))
    #expect(objects.isDoubtful(second))
  }

  /// A barrier that succeeds afterwards says nothing of it.
  @Test func whatAFailedCommitBroughtIsDoubtfulUntilItIsWrittenAnew() {
    var objects = UnsettledObjects()
    objects.write(first)
    objects.doubt([first])
    _ = objects.finish()
    #expect(objects.isDoubtful(first))
    objects.write(first)
    #expect(!objects.isDoubtful(first))
  }

  @Test func whatIsWrittenWhileABarrierRunsIsNotCoveredByIt() {
    var objects = UnsettledObjects()
    let number = objects.beginBarrier()
    objects.write(first)
    let isTold = objects.succeed(number, since: 0) != nil
    objects.lose()
    #expect(!isTold)
    #expect(objects.isDoubtful(first))
  }

  @Test func whatIsBeingWrittenWhenABarrierFailsIsDoubtful() {
    var objects = UnsettledObjects()
    for _ in 0..<2 {
      let failures = objects.begin(first)
      objects.lose()
      objects.end(first, since: failures)
      #expect(objects.isDoubtful(first))
    }
  }

  /// The one that succeeded was not after it.
  @Test func whatIsBeingWrittenWhileOneBarrierSucceedsAndOneFailsIsDoubtful() {
    var objects = UnsettledObjects()
    let failures = objects.begin(first)
    _ = objects.finish()
    objects.lose()
    objects.end(first, since: failures)
    #expect(objects.isDoubtful(first))
  }

  @Test func whoeverBeganBeforeAFailureIsTold() {
    var objects = UnsettledObjects()
    let before = objects.failureCount
    objects.lose()
    objects.write(first)
    let (isTold, isTheOtherTold) = (objects.finish(since: before), objects.finish())
    #expect(isTold)
    #expect(!isTheOtherTold)
  }
}
