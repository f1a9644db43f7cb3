import Synchronization
import VaultCrypto
import VaultModel

/// The keys of one member, of every epoch that this person has been given.
final class MemberKeys: Sendable {
  /// The keys of one epoch, and which one that is.
  struct Epoch: Sendable {
    let id: EpochID
    let keys: EpochKeys
  }

  private struct State {
    var byID: [KeyID: Epoch]
    var current: Epoch
    var hasChanged = false
  }

  private let state: Mutex<State>

  init(current: Epoch, others: [Epoch] = []) {
    state = Mutex(Self.state(current, others))
  }

  private static func state(_ current: Epoch, _ others: [Epoch]) -> State {
    var byID: [KeyID: Epoch] = [:]
    for epoch in others + [current] { byID[epoch.keys.keyID] = epoch }
    return State(byID: byID, current: current)
  }

  /// What new objects and heads are sealed with.
  var current: EpochKeys { state.withLock { $0.current.keys } }

  var currentEpoch: EpochID { state.withLock { $0.current.id } }

  /// Whether another epoch was current before in this process, so that it may have names of that one at hand.
  var hasChanged: Bool { state.withLock { $0.hasChanged } }

  /// The keys of the epoch with this id; nil if this person never had them.
  subscript(id: KeyID) -> EpochKeys? { state.withLock { $0.byID[id]?.keys } }

  /// The epoch with this key id if it is another one than the current.
  func otherEpoch(_ id: KeyID) -> EpochID? {
    state.withLock { state in
      guard let epoch = state.byID[id], epoch.id != state.current.id else { return nil }
      return epoch.id
    }
  }

  /// Goes by other grants from now on; readers that are open go on reading.
  func replace(by new: MemberKeys) {
    let new = new.state.withLock { $0 }
    state.withLock { state in
      let isOther = new.current.id != state.current.id
      let hasChanged = state.hasChanged || isOther
      state = new
      state.hasChanged = hasChanged
    }
  }
}
