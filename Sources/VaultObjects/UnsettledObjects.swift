import VaultErrors
import VaultModel

/// Which objects this process has put in their places that may be on no disk. A value without I/O.
///
/// A disk that could not write something says so once, to whoever waits for it next, and not of what. From then on all that was
/// written since a barrier succeeded, by whomever, is doubtful: it can be read, from memory, and no barrier says any more that it
/// is not on the disk. So is what a commit had brought that failed, for whatever reason. It is written anew before anything names
/// it; and whoever began to write before the failure is told when their own barrier is over. Another process knows nothing of all
/// that.
struct UnsettledObjects {
  /// With how many barriers had begun when each was written.
  private var written: [ObjectName: UInt64] = [:]
  private var doubtful: Set<ObjectName> = []
  private var barrierCount: UInt64 = 0
  private var lastFailure: VaultError?
  /// How many barriers have failed.
  private(set) var failureCount: UInt64 = 0

  func isDoubtful(_ name: ObjectName) -> Bool { doubtful.contains(name) }

  /// The object is about to be written.
  ///
  /// - Returns: How many barriers have failed by now, for `end`.
  mutating func begin(_ name: ObjectName) -> UInt64 {
    written[name] = barrierCount
    return failureCount
  }

  /// It is written, and stands in its place. Only the next barrier is surely after that.
  ///
  /// - Parameter failures: How many barriers had failed before its file was begun.
  mutating func end(_ name: ObjectName, since failures: UInt64) {
    written[name] = barrierCount
    // Barriers that succeeded meanwhile prove nothing of it, so that one which failed may be of it whatever came before.
    if failures == failureCount { doubtful.remove(name) } else { doubtful.insert(name) }
  }

  /// A commit that failed had brought these to their places.
  mutating func doubt(_ names: [ObjectName]) { doubtful.formUnion(names) }

  /// - Returns: The barrier's number, for `succeed`.
  mutating func beginBarrier() -> UInt64 {
    barrierCount += 1
    return barrierCount
  }

  /// What was written before it began is on the disk, but for what was doubtful by then.
  ///
  /// - Parameter failures: How many barriers had failed before whoever waited for this one began to write.
  /// - Returns: What they are told; nil if none has failed since.
  mutating func succeed(_ barrier: UInt64, since failures: UInt64) -> VaultError? {
    written = written.filter { $0.value >= barrier }
    return failures == failureCount ? nil : lastFailure
  }

  mutating func fail(_ failure: VaultError) {
    failureCount += 1
    lastFailure = failure
    doubtful.formUnion(written.keys)
    written = [:]
  }
}
