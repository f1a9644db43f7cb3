import VaultModel
import VaultTrust

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

/// What is known of whether something of a late head is still needed.
package enum Takeover: Sendable {
  /// Nobody says that they have taken it over.
  case none
  /// Nothing of it is needed: this very head was taken over, or one that goes on from it.
  case certain
  /// Somebody says so whose word does not count, or of a head with a higher counter that is not known to go on from it.
  case unproven
  /// What was taken over is of another line of its device: two machines have written under one key.
  case apart
}

extension UnsealedHead {
  /// Whether it says that all that a late head brings is under the keys of its own epoch as well, as far as counters tell. It
  /// may be late itself: whoever takes that over has both.
  package func takesOver(_ late: some UnsealedHead) -> Bool {
    epoch != late.epoch && head.takesOver(late.device, upTo: late.counter)
  }
}

extension Sequence where Element: UnsealedHead {
  /// What these heads say of a late one.
  ///
  /// - Parameter line: A head of its device that was taken over, and what is known of those before that.
  func takeover(
    of late: some UnsealedHead, after line: FollowedLine?, by witnesses: Witnesses
  ) -> Takeover {
    let takers = filter { $0.takesOver(late) }
    if takers.isEmpty { return .none }
    let proving = takers.filter { witnesses.proves($0.device, of: late.device) }
    let taken = proving.flatMap { $0.head.cover + $0.head.takenOver }
      .filter { $0.device == late.device && $0.counter >= late.counter }.map(\.mark)
    if taken.contains(late.mark) { return .certain }
    if let line, line.has(late.mark) { return proving.isEmpty ? .unproven : .certain }
    let isTwin = !taken.isEmpty && taken.allSatisfy { $0.counter == late.counter }
    return isTwin || line?.isApart(from: late.mark) ?? false ? .apart : .unproven
  }
}

extension UnsealedHead {
  var mark: HeadMark { HeadMark(counter: counter, hash: hash) }
}

extension LoadedHead: UnsealedHead {
  package var epoch: StatementID { body.epoch }
  package var isLate: Bool { late != nil }
}

extension OpenedHead: UnsealedHead {}
