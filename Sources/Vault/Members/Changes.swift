import Threads
import VaultModel

/// What changes in one member's records, from when it was begun: the one road on which news travels in a process. Each who
/// shows records, or keeps what was made of them, goes on from a `Changes` of its own, and takes nothing from anyone else's.
/// Safe to use from any thread.
///
/// Whoever begins one before they look at the records misses nothing.
package final class Changes: Sendable {
  /// Whose changes are followed.
  package enum Authors: Sendable {
    case anybody
    /// Of other processes, other devices and joins: for whoever makes this process's own changes, and knows of them.
    case others
  }

  private let member: Member
  private let number: Int

  package init(of member: Member, by authors: Authors) {
    self.member = member
    number = member.state.withLock { $0.changes.begin(authors) }
  }

  deinit { member.state.withLock { $0.changes.end(number) } }

  /// The records that changed since the last call, whichever part of this process noticed.
  package func take() -> Set<RecordID> { member.state.withLock { $0.changes.take(number) } }

  /// The same, without taking them.
  var waiting: Set<RecordID> { member.state.withLock { $0.changes.waiting(for: number) } }
}

/// What waits for each of those that follow the changes of a member.
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

  /// Changes that others made.
  mutating func note(_ records: some Sequence<RecordID>) {
    // Not over the dictionary itself, which would be copied with all that waits.
    for number in Array(followers.keys) { followers[number]?.waiting.formUnion(records) }
  }

  /// Changes that this process was asked to make.
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
