import Synchronization
import VaultCrypto
import VaultModel

/// The keys of one member, of every epoch that this person has been given.
///
/// Whoever names, opens or seals an object asks for a key, on every thread at once, and the keys change a few times in a
/// process's life. So asking takes no lock: keys that were given never change, and new ones are hung behind them.
package final class MemberKeys: Sendable {
  /// The keys of one epoch, and which one that is.
  package struct Epoch: Sendable {
    /// The link that began it.
    package let id: StatementID
    package let keys: EpochKeys

    package init(id: StatementID, keys: EpochKeys) {
      self.id = id
      self.keys = keys
    }
  }

  /// The keys as they were given at one time.
  private final class Given: Sendable {
    let byID: [KeyID: Epoch]
    let byEpoch: [StatementID: Epoch]
    let current: Epoch
    /// The keys of the other epochs, in an order that stays.
    let others: [EpochKeys]
    /// The journal keys of those, as heads say them: made when they are first asked for.
    private let past = AtomicLazyReference<WrappedJournals>()

    var pastJournals: [[UInt8]] {
      past.storeIfNil(past.load() ?? WrappedJournals(others, under: current.keys)).wrapped
    }

    init(_ current: Epoch, _ others: [Epoch]) {
      let all = others + [current]
      byID = Dictionary(all.map { ($0.keys.keyID, $0) }) { _, last in last }
      byEpoch = Dictionary(all.map { ($0.id, $0) }) { _, last in last }
      self.current = current
      self.others = byID.values.map(\.keys).filter { $0.keyID != current.keys.keyID }
        .sorted { $0.keyID < $1.keyID }
    }

    /// Whether both were given the same epochs, and write under the same one.
    func isSame(as other: Given) -> Bool {
      current.id == other.current.id && byEpoch.keys == other.byEpoch.keys
    }
  }

  private final class WrappedJournals: Sendable {
    let wrapped: [[UInt8]]

    init(_ others: [EpochKeys], under current: EpochKeys) {
      wrapped = others.map { $0.journalKey.wrapped(under: current.journalKey) }
    }
  }

  private final class Link: Sendable {
    let given: Given
    let next = AtomicLazyReference<Link>()

    init(_ given: Given) { self.given = given }
  }

  private let first: Link

  /// - Parameter current: What new objects and heads are sealed with.
  package init(current: Epoch, others: [Epoch] = []) {
    first = Link(Given(current, others))
  }

  private var last: Link {
    var last = first
    while let next = last.next.load() { last = next }
    return last
  }

  /// What new objects and heads are sealed with.
  package var current: EpochKeys { last.given.current.keys }

  /// The link that began the epoch of these.
  package var currentEpoch: StatementID { last.given.current.id }

  /// Those of every other epoch that this person has.
  package var others: [EpochKeys] { last.given.others }

  /// The journal keys of every other epoch that this person has, each wrapped under that of the current one.
  package var pastJournals: [[UInt8]] { last.given.pastJournals }

  /// The keys of the epoch with this id; nil if this person never had them.
  package subscript(id: KeyID) -> EpochKeys? { last.given.byID[id]?.keys }

  /// The epoch that this link began; nil if this person never had its key.
  package func epoch(_ id: StatementID) -> Epoch? { last.given.byEpoch[id] }

  /// Goes by other links from now on; readers that are open go on reading.
  package func replace(by new: MemberKeys) {
    var end = last
    let new = Link(new.last.given)
    // Links are read again far more often than keys change.
    while !end.given.isSame(as: new.given) {
      let next = end.next.storeIfNil(new)
      if next === new { return }
      // Somebody else was first.
      end = next
    }
  }
}
