import Synchronization
import VaultCrypto
import VaultModel

/// The keys of one member, of every epoch that this person has been given.
final class MemberKeys: Sendable {
  private struct State {
    var byID: [KeyID: EpochKeys]
    var current: EpochKeys
  }

  private let state: Mutex<State>

  init(current: EpochKeys, others: [EpochKeys] = []) {
    var byID = [current.keyID: current]
    for keys in others { byID[keys.keyID] = keys }
    state = Mutex(State(byID: byID, current: current))
  }

  /// What new objects and heads are sealed with.
  var current: EpochKeys { state.withLock { $0.current } }

  /// The keys of the epoch with this id; nil if this person never had them.
  subscript(id: KeyID) -> EpochKeys? { state.withLock { $0.byID[id] } }
}
