import Synchronization
import VaultCrypto
import VaultModel

/// The keys of one member, of every epoch that this person has been given.
final class MemberKeys: Sendable {
  /// The keys of one epoch, and which one that is.
  struct Epoch: Sendable {
    /// The link that began it.
    let id: StatementID
    let keys: EpochKeys
  }

  private struct State {
    var byID: [KeyID: Epoch]
    var byEpoch: [StatementID: Epoch]
    var current: Epoch
    /// The keys of the other epochs, in an order that stays.
    var others: [EpochKeys]
  }

  private let state: Mutex<State>

  init(current: Epoch, others: [Epoch] = []) {
    state = Mutex(Self.state(current, others))
  }

  private static func state(_ current: Epoch, _ others: [Epoch]) -> State {
    var byID: [KeyID: Epoch] = [:]
    var byEpoch: [StatementID: Epoch] = [:]
    for epoch in others + [current] {
      byID[epoch.keys.keyID] = epoch
      byEpoch[epoch.id] = epoch
    }
    let earlier = byID.values.map(\.keys).filter { $0.keyID != current.keys.keyID }
    return State(
      byID: byID, byEpoch: byEpoch, current: current,
      others: earlier.sorted { $0.keyID < $1.keyID })
  }

  /// What new objects and heads are sealed with.
  var current: EpochKeys { state.withLock { $0.current.keys } }

  var currentEpoch: StatementID { state.withLock { $0.current.id } }

  /// Those of every other epoch that this person has.
  var others: [EpochKeys] { state.withLock { $0.others } }

  /// The keys of the epoch with this id; nil if this person never had them.
  subscript(id: KeyID) -> EpochKeys? { state.withLock { $0.byID[id]?.keys } }

  /// The epoch that this link began; nil if this person never had its key.
  func epoch(_ id: StatementID) -> Epoch? { state.withLock { $0.byEpoch[id] } }

  /// Goes by other links from now on; readers that are open go on reading.
  func replace(by new: MemberKeys) {
    let new = new.state.withLock { $0 }
    state.withLock { $0 = new }
  }
}
