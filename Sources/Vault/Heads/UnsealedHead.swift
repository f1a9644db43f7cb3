import VaultModel

/// A head that counts and whose seal was opened.
///
/// Which late heads were taken over is said inside of seals. `VaultTrust` has no keys and cannot be asked, so it is decided
/// here, for all: what is known of a member, a sync, and one that looks at heads alone.
package protocol UnsealedHead {
  var device: DeviceID { get }
  var counter: UInt64 { get }
  var hash: FileHash { get }
  /// The link that began its epoch.
  var epoch: StatementID { get }
  /// Whether it is of another epoch than the one in use.
  var isLate: Bool { get }
  var head: Head { get }
}

extension UnsealedHead {
  /// Whether it says that all that a late head brings is under the keys of its own epoch as well. It may be late itself: whoever
  /// takes that over has both.
  package func takesOver(_ late: some UnsealedHead) -> Bool {
    epoch != late.epoch && head.takesOver(late.device, upTo: late.counter)
  }

  /// Whether it says so of nothing but another head that was written with this counter under the key of the late one's
  /// device: another machine's.
  fileprivate func takesOverTwin(of late: some UnsealedHead) -> Bool {
    let taken = (head.cover + head.takenOver).filter {
      $0.device == late.device && $0.counter >= late.counter
    }
    return taken.allSatisfy { $0.counter == late.counter && $0.headHash != late.hash }
  }
}

extension Sequence where Element: UnsealedHead {
  /// Whether all of these that say they have taken over a late head mean one of another machine under its device's key.
  package func mistake(_ late: some UnsealedHead) -> Bool {
    let takers = filter { $0.takesOver(late) }
    return !takers.isEmpty && takers.allSatisfy { $0.takesOverTwin(of: late) }
  }
}

extension LoadedHead: UnsealedHead {
  package var epoch: StatementID { body.epoch }
  package var isLate: Bool { late != nil }
}

extension OpenedHead: UnsealedHead {}
