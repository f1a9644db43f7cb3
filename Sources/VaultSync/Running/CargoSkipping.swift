import Vault
import VaultModel

/// Which folders of a remote a sync does not look into, since they are strangers' and were left there before.
///
/// Some of them have their turn in each sync, so that what has come to be of somebody known is seen some time.
struct CargoSkipping: Sendable {
  private let skipped: Set<CargoOwner>
  /// The last one whose turn it was; nil if it was nobody's.
  let lastTurn: CargoOwner?

  /// So many folders have their turn in a sync.
  static let turnCount = 8
  /// So many folders have their turn in the sync that looks everywhere, once a day.
  static let dailyTurnCount = 512

  init(session: SyncSession, local: LocalLook) {
    let memory = session.memory
    let vouching = session.home.vouching
    guard !session.options.looksEverywhere, !session.options.takesStrangers,
      let vouching, memory.vouched == vouching.fingerprint
    else {
      (skipped, lastTurn) = ([], nil)
      return
    }
    let here = local.owners
    let left = memory.leftCargo.keys.filter { owner in
      !here.contains(owner) && !vouching.isBase(owner)
    }.sorted()
    let count = session.looksEverywhere ? Self.dailyTurnCount : Self.turnCount
    let later = left.filter { owner in memory.lastCargoLook.map { owner > $0 } ?? true }
    let turn = (later + left).prefix(min(count, left.count))
    skipped = Set(left).subtracting(turn)
    lastTurn = turn.last
  }

  func skips(_ owner: CargoOwner) -> Bool { skipped.contains(owner) }
}

extension LocalLook {
  /// Whose folders are here.
  var owners: Set<CargoOwner> {
    var owners = Set(members.map { CargoOwner.member($0) })
    for case .person(let person) in files.map(\.owner) { owners.insert(.person(person)) }
    return owners
  }
}
