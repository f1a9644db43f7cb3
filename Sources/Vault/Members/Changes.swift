import Threads
import VaultModel

/// Tells which records of one member have changed since this value was made. It is the one road on which news travels in a
/// process: a mount, a page or the search makes a `Changes` of its own, and what one of them takes the others still get.
/// Safe to use from any thread.
///
/// Make it before looking at the records for the first time: what changes after that is told, so nothing is missed.
package final class Changes: Sendable {
  /// Whose changes are told.
  package enum Authors: Sendable {
    case anybody
    /// Those that came from other processes and other devices, or of a join, and records that a commit of a mount brought back.
    /// A mount asks for these: it makes this process's own changes itself, and shows them already.
    case others
  }

  private let member: Member
  private let number: Int

  package init(of member: Member, by authors: Authors) {
    self.member = member
    number = member.state.withLock { $0.changes.begin(authors) }
  }

  deinit { member.state.withLock { $0.changes.end(number) } }

  /// The records that changed since the last call, or since this value was made.
  package func take() -> Set<RecordID> { member.state.withLock { $0.changes.take(number) } }

  /// What `take` would return now; it stays to be taken.
  var waiting: Set<RecordID> { member.state.withLock { $0.changes.waiting(for: number) } }
}

/// Every `Changes` of one member, by a number, and the records that wait to be taken from it.
struct FollowedChanges: Sendable {
  struct Follower {
    let authors: Changes.Authors
    var waiting: Set<RecordID> = []
  }

  private(set) var followers: [Int: Follower] = [:]
  private var count = 0

  mutating func begin(_ authors: Changes.Authors) -> Int {
    count += 1
    followers[count] = Follower(authors: authors)
    return count
  }

  mutating func end(_ number: Int) { followers[number] = nil }

  mutating func take(_ number: Int) -> Set<RecordID> {
    followers[number]?.waiting.take() ?? []
  }

  func waiting(for number: Int) -> Set<RecordID> { followers[number]?.waiting ?? [] }

  /// Notes, for everybody who follows, records that others changed.
  mutating func note(_ records: some Sequence<RecordID>) {
    // Not over the dictionary itself, which would be copied with all that waits.
    for number in Array(followers.keys) { followers[number]?.waiting.formUnion(records) }
  }

  /// Notes records that this process was asked to change: for those who follow the changes of anybody.
  mutating func note(own records: some Sequence<RecordID>) {
    for number in Array(followers.keys) where followers[number]?.authors == .anybody {
      followers[number]?.waiting.formUnion(records)
    }
  }
}

extension Set {
  fileprivate mutating func take() -> Set {
    defer { self = [] }
    return self
  }
}
